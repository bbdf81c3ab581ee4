import StatecastCore
import StatecastTesting

/// A state with effects.
struct Library: Equatable, Sendable {
    var books: [String] = []
    var isLoading = false
    var loadedAt: Timestamp?
    var lastReader: String?
}

struct LoadRequested: Action, Equatable {}

struct LoadCancelled: Action, Equatable {}

struct BooksLoaded: Action, Equatable {
    var books: [String]
}

struct BookLent: Action {
    var book: String
}

/// Returns an effect from the reducer.
struct Wanted: Action {
    let effect: Effect

    init(_ effect: Effect) { self.effect = effect }

    init(from decoder: any Decoder) { effect = .none }

    func encode(to encoder: any Encoder) {}
}

/// Reports that work has reached a point.
struct Reached: Action, Equatable {
    var point: Int

    init(_ point: Int) { self.point = point }
}

extension Library {
    /// - Parameter shelf: where books are loaded from.
    static func reducer(shelf: @escaping @Sendable () async -> [String] = { ["Dune"] }) -> Reducer<Library> {
        .withContext { library, action, context in
            switch action {
            case is LoadRequested:
                library.isLoading = true
                return .run(id: "load") { send in await send(BooksLoaded(books: await shelf())) }
            case is LoadCancelled:
                library.isLoading = false
                return .cancel(id: "load")
            case let action as BooksLoaded:
                library.isLoading = false
                library.books = action.books
                library.loadedAt = context.time
            case let action as BookLent:
                library.books.removeAll { $0 == action.book }
                library.lastReader = context.user
            case let action as Wanted: return action.effect
            default: break
            }
            return .none
        }
    }
}

extension TestCore<Library> {
    /// Returns once an effect has sent `action`, before it is received.
    ///
    /// - Parameter afterwards: called when it has been received or dropped.
    func awaitArrival(of action: Reached, id: Int = 0, afterwards: @escaping @Sendable () -> Void = {}) async {
        let arrived = Latch()
        await send(
            Wanted(
                .merge(
                    .run(id: id) { send in
                        await send(action)
                        afterwards()
                    },
                    .run { send in
                        await arrived.wait()
                        await send(LoadCancelled())
                    }
                )
            )
        )
        await receive { other in
            if other as? Reached == action { arrived.open() }
            return other is LoadCancelled
        }
    }
}
