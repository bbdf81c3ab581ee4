// Enums as users write them, and one change in each.

enum Payload: Codable { case text(String, way: Way), ready, failed(code: Int?) }
enum ReorderedPayload: Codable { case failed(code: Int?), ready, text(String, way: Way) }
enum OtherPayload: Codable { case text(String, way: Way), ready, failed(code: Int) }
enum PayloadLess: Codable { case text(String, way: Way), failed(code: Int?) }
enum RenamedPayload: Codable { case text(String, way: Way), ready, failed(number: Int?) }
enum Way: String, Codable, CaseIterable { case up, down }
enum Only: Codable { case one(Int) }

enum ListedKind: String, Codable, CaseIterable { case green, blue, red }
enum MoreKinds: String, Codable { case red, green, blue, grey }
enum Numbered: Int, Codable { case none, one }

indirect enum Expression: Codable { case negated(Expression), number(Int), sum(Expression, Expression) }
indirect enum OtherExpression: Codable { case negated(Expression), number(Int), sum(Expression, Int) }
