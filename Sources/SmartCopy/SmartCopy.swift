/// Gives an immutable struct `copy(field: ...)`, which returns the same value with some fields replaced.
///
/// A state made of `let`s says that nobody changes it in passing; the price is that a reducer has to call an initializer
/// with twenty arguments to change one. `copy` names the one and keeps the rest.
///
/// ```swift
/// @SmartCopy
/// struct Robot {
///     let id: Int
///     let name: String
///     let task: String?
/// }
///
/// let idle = Robot(id: 7, name: "Ada", task: nil)
/// let busy = idle.copy(task: "paint")                // 7, Ada, paint
/// let other = busy.copy(id: 8, name: "Grace")        // 8, Grace, paint
/// let done = busy.copy(task: nil)                    // 7, Ada, nil
/// let next = done.copy(task: .set(queue.first))      // 7, Ada, whatever the queue holds, or nil
/// ```
///
/// **Fields.** There is one parameter for each stored property that an initializer can give a value, in the order of
/// declaration. Left out are computed, static and lazy properties and every `let` that has its value already.
///
/// - A field that is not optional takes its own type; left out, or `nil`, keeps what it was.
/// - An optional field takes an ``OptionalChange``, because there `nil` is a value: left out keeps it, `nil` clears it, a
///   literal sets it, and anything else is set with `.set(value)`. What is optional is read off the spelling: `T?`, `T!`
///   and `Optional<T>`. A type alias for an optional, or a generic parameter that turns out to be one, counts as not
///   optional, and there the literal `nil` keeps.
///
/// **Access.** `copy` is as visible as the struct. A property that is less visible than the struct gets no parameter,
/// since that would let strangers set what they may not even see; the copy has the original's value. In a file that
/// imports with `internal` by default, a public struct with a public optional field needs `public import SmartCopy`.
///
/// **Initializer.** `copy` calls the memberwise initializer. If the body of the struct declares initializers of its own,
/// there is none; then one of them must take every field under its name (others only with a default), or the macro says
/// which is missing. Initializers in an extension leave the memberwise one in place.
///
/// **Refused**, each with a message at the property: property wrappers (a copy would build the wrapper anew and lose what
/// it knows), tuple patterns, stored properties inside `#if`, `some` types, init accessors, and a `var` without a written
/// type whose initial value is not a plain literal: macros see text, not types.
@attached(member, names: named(copy))
public macro SmartCopy() = #externalMacro(module: "SmartCopyMacros", type: "SmartCopyMacro")
