import StatecastCore

struct Library: Codable, Equatable, Sendable {
    var books: [String] = []
    var isLoading = false
    var failure: String?
}

struct BooksRequested: Action {}
struct BooksLoaded: Action, Equatable { let books: [String] }
struct BooksUnavailable: Action, Equatable { let reason: String }
struct LoadingCancelled: Action {}
struct BookAdded: Action { let title: String }

extension Library {
    static func reducer(fetch: @escaping @Sendable () async throws -> [String]) -> Reducer<Library> {
        Reducer { library, action in
            switch action {
            case is BooksRequested:
                library.isLoading = true
                library.failure = nil
                return load(fetch)
            case let action as BooksLoaded:
                library.isLoading = false
                library.books = action.books + library.books.filter { !action.books.contains($0) }
            case let action as BooksUnavailable:
                library.isLoading = false
                library.failure = action.reason
            case is LoadingCancelled:
                library.isLoading = false
                return .cancel(id: "load")
            case let action as BookAdded:
                library.books.append(action.title)
            default: break
            }
            return .none
        }
    }

    private static func load(_ fetch: @escaping @Sendable () async throws -> [String]) -> Effect {
        .run(id: "load", cancelInFlight: true) { send in
            await send(BooksLoaded(books: try await fetch()))
        } catch: { error in
            BooksUnavailable(reason: "\(error)")
        }
    }
}
