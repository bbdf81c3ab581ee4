import Statecast
import StatecastCoding
import StatecastJSON
import StatecastTesting
import Testing

@Suite struct ShopTests {
    @Test func `a shop can be replicated`() {
        verifyState(Shop.example, Shop())
    }

    @Test func `a patch holds what changed`() throws {
        let old = Shop.example
        var new = old
        new.items[4711]?.price = 17
        let patch = try Differ.patch(from: old, to: new).patch
        #expect(patch.description == #"{"items":{"4711":{"price":[17.0]}}}"#)
        #expect(patch.encode().count == 22)

        // A typed replica applies the patch to the state, a tool without the type to the tree.
        var typed = old
        try patch.apply(to: &typed)
        #expect(typed == new)
        var tree = try StateEncoder().value(of: old)
        try patch.apply(to: &tree)
        #expect(tree == (try StateEncoder().value(of: new)))
    }

    @Test func `a shop has a JSON view, and a patch is a JSON Patch`() throws {
        let base = try StateEncoder().value(of: Shop.example)
        #expect(JSON.text(of: base[path: "items.4712"] ?? .null) == #"{"tags":[],"price":49.0,"title":"Chair"}"#)

        var shop = Shop.example
        shop.items[4712]?.price = 45
        let operations = try Differ.patch(from: Shop.example, to: shop).patch.jsonPatch(from: base)
        #expect(operations.description == #"[{"op":"replace","path":"/items/4712/price","value":45.0}]"#)
    }
}
