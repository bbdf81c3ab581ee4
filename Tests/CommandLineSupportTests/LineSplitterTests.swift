import CommandLineSupport
import Testing

