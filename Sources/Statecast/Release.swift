/// The release of the library and its executables.
package enum Release {
    /// A semantic version.
    package static let number = "0.2.0-beta"
}
