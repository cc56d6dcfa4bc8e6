// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// The samples of RFC 3492, 7.1, in small letters.
struct PunycodeTests {
  @Test(arguments: [
    ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
    ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
    ("pročprostěnemluvíčesky", "proprostnemluvesky-uyb24dma41a"),
    ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
    ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
    ("porquénopuedensimplementehablarenespañol", "porqunopuedensimplementehablarenespaol-fmd56a"),
    ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
    ("bücher", "bcher-kva"),
  ])
  func encodesAsTheStandardDoes(_ label: String, _ encoded: String) {
    #expect(Punycode.encode(label) == encoded)
  }
}
