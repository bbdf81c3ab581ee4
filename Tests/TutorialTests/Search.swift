import Foundation
import Statecast

struct Search: Codable, Equatable, Sendable {
    var text = ""
    var results: [String] = []
    var lastSearch: Timestamp?

    /// For views.
    var lastSearchDate: Date? { lastSearch.map { Date($0) } }
}

struct TextChanged: Action { let text: String }
struct SearchRequested: Action, Equatable {}
struct ResultsFound: Action, Equatable { let results: [String] }

extension Search {
    static func reducer(find: @escaping @Sendable (String) async throws -> [String]) -> Reducer<Search> {
        .withContext { search, action, context in
            switch action {
            case let action as TextChanged:
                search.text = action.text
                return .debounce(SearchRequested(), for: .milliseconds(300), id: "search")
            case is SearchRequested:
                search.lastSearch = context.time
                return .run(id: "search") { [text = search.text] send in
                    await send(ResultsFound(results: try await find(text)))
                } catch: { _ in
                    ResultsFound(results: [])
                }
            case let action as ResultsFound:
                search.results = action.results
            default: break
            }
            return .none
        }
    }
}
