// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Without the trait, swift-nio is not fetched, and each file of DialtoneSites would say that it has no module of that
// name. This module is compiled before, and says what to do.
#if !Sites
#error("DialtoneSites needs the trait Sites: add traits: [\"Sites\"] to the line .package(…) of swift-dialtone")
#endif
