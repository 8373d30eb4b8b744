//! Cuts a text into parts that Discord takes.
