// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Documents that the reader of YAML takes, written by hand.
enum YAMLDocuments {
  static let all = blocks + brackets + texts + literals + around

  private static let blocks = [
    "a: b", "a:\n  b", "a : b", "'a' : b\n\"c\": d", "a:\n  b:\n    c: d\n  e: f\ng: h",
    "a:\n- x\n- y\nb: z", "a:\n  - x\n  - y\nb: z", "a:\n-\n-\nb:", "- a\n-\n- \n- b", "-",
    "- - a\n  - b\n- c: d\n  e: f\n-\n  g: h\n-   - i\n    - j\n- k", "- - - a\n    - b\n  - c\n- d",
    "a:\n    - b\n    - c: d\n      e:\n      - f\n", "- a: b\n  c:\n  - d\n  -\n    e: f\n- g",
    "a: ~\nb: null\nc:\nd: ''", "a:\n  # c\n  b: c\n  \n\n  d: e #x\n", "true: no\n1: 0x10\nnull: ~",
    "é: ü\n日本: [語]\n😀: \u{10FFFF}",
  ]

  private static let brackets = [
    "[]", "{}", "[ ]", "a: []\nb: {}", "[a, b,\n c,]", "{a: b, 'c': d,\n \"e\":f, g: , h: [x], i: {}}",
    "a: [\n]\nb: c", "a:\n  [x,\ny\n]\n", "[a\n b,\n\n c\n\n d]", "a: [x, #c\n y]", "a: [x # c\n  , y]",
    "{\"a\":1,\"b\":[1,2,{\"c\":null}]}", "- [a, [b, {c: d}]]\n- {e: [f, g], h: i}", "[http://x/, a#b, 'c, d', \"]\"]",
    "{a: -1, b: x-y, c: a:b}", "{a: b c\n  d, e:\n  f}", "headers: {Accept: text/html, Host: example.org}",
  ]

  private static let texts = [
    "text", "two\nlines", "a: http://x/#y\nb: c#d", "a b c: d e\n  f\n\n  g\nh: i", "a: b\n  - c", "a: b # c\nd: e",
    "a: -1\nb: -x\nc: ?x\nd: :x", "a: b\n\n\n  c\n\n", "- a\n  b\n- c",
    "a: it's \"so\" & so * on ! % @ ` [x] {y}",
    "a: \"\"\nb: ''\nc: \"  \"", "a: 'it''s\n  x\n\n  y'", "a: 'x\\n'", "a: ''''", "a: 'x \n   y'",
    "a: \"x\\n\\t\\u00e9\\x41 \\\n   y\n\n  z  \n  w\"", "a: \"x \\\n\n\n  y\"", "a: \"\\\n  x\"", "a: \"x\n  \"",
    "a: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\/\\\\\\N\\_\\L\\P\\x7f\\u20ac\\U0001F600\"", "\"a\\tb\": c",
    "'a: b': 'c: d'",
    "\"# a\": '# b'", "a: \"\\ \\  x  \\ \n  y\"", "a: \"b\" # c\nd: 'e' # f",
  ]

  private static let literals = [
    "a: |\n  x\n   y\n\n  z\n\nb: >-\n  x\n  y\n\n  z\n   w\n  v\nc: |+\n  x\n\n", "a: |2\n   x\n  y", "a: |-\n  x",
    "a: >+1\n x\n\n\nb: c", "a: |\n\n\n  x\n", "a: |\n \n  \n  x", "a: >\n\n  x\n", "a: |", "a: |\nb: c",
    "a: |+\n\n\nb: c", "a: |\n  x\n # c\nb: d", "a: | # c\n  x\n", "a: |+2\n   x\n", "a: |2+\n   x\n", "a:\n  |\n  x\n",
    "- |\n x\n- >\n x\n y\n- b: |\n   x", "a:  |\n    x\n     y\n", "a: |\n  ---\n  x",
    "a: |\n  # no comment\n  b: c\n",
    "a: >\n  x\n\n\n  y\n    z\n\n  w\n", "a: |\n  x\n    ", "a: |\n    ", "--- |\n x\n", "--- >1\n x\n",
  ]

  private static let around = [
    "# c\n---\na: b # c\n...\n", "--- # c\n- a\n", "--- [a]", "--- text", "---\n", "---\n...\n", "a: b\n...\n# c\n",
    "\u{FEFF}a: b\r\nc:\r\n- d\r\n", "a: \"x\r\n\r\n  y\"\r\nb: |\r\n  x\r\n  y\r\n", "a: b\rc: d\r",
    "\n\n# c\n\na: b\n\n",
    "  a: b\n  c: d", " - a\n - b", "---\n  a: b\n",
  ]

  /// Each with the line of what is wrong, and a word of the remedy or the reason. PyYAML reads some of them.
  static let refused: [(text: String, line: Int, word: String)] = [
    // What is left out of the language.
    ("a: &x b", 1, "write out"), ("a: b\nc: *x", 2, "write out"), ("- &x\n  a: b", 1, "write out"),
    ("a: !!str b", 1, "tags"), ("- ! a", 1, "tags"), ("{a: !x b}", 1, "tags"),
    ("%YAML 1.2\n---\na: b", 1, "directives"),
    ("a: b\n---\nc: d", 2, "second document"), ("a: b\n...\n---\nc: d", 3, "second document"),
    ("? a\n: b", 1, "question"),
    ("a: {? b : c}", 1, "question"), ("[a]: b", 1, "a key has to be a text"), ("{[a]: b}", 1, "a key is expected"),
    ("a:\n  <<: {b: c}", 2, "merge"), ("[a: b]", 1, "braces"), ("{a}", 1, "colon"), ("{a:1}", 1, "colon"),
    ("{a\n: b}", 1, "colon"), ("a: b\n\"c\n  d\": e", 3, "one line"), ("a: \u{85}", 1, "U+0085"),
    ("a: b\nc: \u{2028}", 2, "U+2028"), ("a: b\u{FEFF}", 1, "U+FEFF"), ("a: \u{7F}", 1, "U+007F"),
    ("a: b\n\u{0}", 2, "U+0000"), ("a: \"\u{1B}\"", 1, "U+001B"), ("a: \"\\ud800\"", 1, "backslash"),
    // Twice.
    ("a: b\na: c", 1, "line 2"), ("a:\n  b: c\n  'b': d", 2, "line 3"), ("{a: b,\n a: c}", 1, "line 2"),
    // Indentation.
    ("a:\n\tb: c", 2, "tab"), ("a: b\n\tc: d", 2, "tab"), ("a: |\n\tx", 2, "tab"), ("-\ta: b", 1, "tab"),
    ("- \ta", 1, "tab"), ("  a: b\n c: d", 2, "indent"), ("a:\n  b: c\n d: e", 3, "indent"), ("- a\nb: c", 2, "indent"),
    ("a: b\n- c", 2, "indent"), ("a:\n  - b\n - c", 3, "indent"), ("a:\n  - b\n  c: d", 3, "indent"),
    ("a: b\n c: d", 2, "second key"), ("a: |\n   x\n  y", 3, "indent"), ("a: |\n   \n x", 3, "blank line"),
    ("a: [b]\n  c", 2, "indent"), ("a: b #c\n  d", 2, "indent"),
    // Colons, brackets, quotes.
    ("a: b: c", 1, "second key"), ("a: - b", 1, "list"), ("a:\n  b\nc", 3, "colon"),
    ("method:GET\na: b", 2, "second key"),
    (": a", 1, "key is missing"), ("{: a}", 1, "key is missing"), ("\"a\":b", 1, "goes on"),
    ("a: [b, c", 1, "[ of line 1"),
    ("a: [b,\n\n", 3, "[ of line 1"), ("a: {b: c\nd: e", 2, "colon"), ("a: ]", 1, "quotes"),
    ("a: [b c, }]", 1, "quotes"),
    ("a: [b,,c]", 1, "quotes"), ("[b 'c']d", 1, "goes on"), ("['b' c]", 1, "comma"), ("a: 'b\nc: d", 2, "' of line 1"),
    ("a: \"b\n\n\n  c", 4, "\" of line 1"), ("a: \"---\n---\n\"", 2, "not closed"), ("a: [\n---\n]", 2, "not closed"),
    ("a: 'x' y", 1, "goes on"), ("a: \"x\"#c", 1, "comment"), ("a: \"\\q\"", 1, "backslash"),
    ("a: \"\\x4\"", 1, "digits"),
    ("a: @x", 1, "quotes"), ("a: `x", 1, "quotes"), ("a: %x", 1, "quotes"), ("[-]", 1, "quotes"),
    ("[::1]", 1, "quotes"),
    ("a: |x", 1, "no text"), ("a: |22\n x", 1, "no text"), ("a: |0\n x", 1, "no text"), ("a: |#c\n x", 1, "no text"),
    ("a: b\n...\nc: d", 3, "indent"), ("--- a: b", 1, "second key"), ("a: \"b", 1, "not closed"),
    ("{a: \"b\\", 1, "ends"),
    (String(repeating: "[", count: 33), 1, "32 levels"), (String(repeating: "- ", count: 40) + "a", 1, "32 levels"),
  ]
}
