// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0
