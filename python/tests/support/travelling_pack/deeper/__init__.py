"""A package inside of a package."""
