// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The looks of a report. Everything is in the page.
enum ReportStyle {
  static let sheet = """
    :root {
      color-scheme: light dark;
      --page: #f7f6f3; --card: #ffffff; --ink: #1f1e1b; --soft: #6a675f; --line: #e4e1da;
      --up: #b9dccb; --void: repeating-linear-gradient(135deg, #c2bdb0 0 1px, #f4f2ed 1px 5px); --asleep: #d3d6e2;
      --machine: #6a55b0; --link: #c0392b; --router: #c77d14; --provider: #1f77a8;
      --name-server: #0f8a6d; --site: #a8457f; --unknown: #77736a;
      --wired: #7aa6c9; --wifi: #8fbf8a; --cellular: #d7a85a; --tunnel: #a795cf; --other: #b5b1a7; --none: #c0392b;
    }
    @media screen and (prefers-color-scheme: dark) {
      :root {
        --page: #161719; --card: #1f2124; --ink: #ecebe7; --soft: #a3a19a; --line: #33363a;
        --up: #2e5a49; --void: repeating-linear-gradient(135deg, #565a60 0 1px, #26292c 1px 5px); --asleep: #3a3f52;
        --machine: #a593e6; --link: #f0705f; --router: #eaa544; --provider: #5cb1df;
        --name-server: #4cc7a5; --site: #e085ba; --unknown: #a09c92;
        --wired: #4d7da3; --wifi: #55885a; --cellular: #b98a3c; --tunnel: #7d6bad; --other: #6e6b64; --none: #f0705f;
      }
    }
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; }
    body {
      margin: 0; padding: 2.5rem 1.25rem 3rem; background: var(--page); color: var(--ink);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
      font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
    }
    main { max-width: 68rem; margin: 0 auto; }
    h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; }
    h2 { break-after: avoid; margin: 0 0 1rem; font-size: 1.05rem; font-weight: 620; }
    p { margin: 0; }
    .soft { color: var(--soft); font-size: 0.875rem; }
    header { margin-bottom: 1.75rem; }
    header .soft { margin-top: 0.3rem; font-size: 0.95rem; }
    section {
      background: var(--card); border: 1px solid var(--line); border-radius: 14px;
      padding: 1.4rem 1.5rem 1.5rem; margin-bottom: 1.25rem;
    }
    .row { padding: 0.85rem 0; border-top: 1px solid var(--line); }
    .row:first-of-type { border-top: 0; padding-top: 0; }
    .title { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; margin-bottom: 0.45rem; }
    .name { font-weight: 560; }
    .figure { font-weight: 620; white-space: nowrap; }
    .band { display: block; width: 100%; height: 30px; border-radius: 5px; background: var(--void); overflow: hidden; }
    .path .band { height: 14px; border-radius: 4px; }
    rect { fill: var(--look); }
    rect.down { stroke: var(--look); stroke-width: 1.5px; vector-effect: non-scaling-stroke; }
    .row .soft { margin-top: 0.4rem; }
    .axis { position: relative; height: 1.3rem; margin-top: 0.25rem; }
    .axis span { position: absolute; left: max(1.4rem, var(--at)); transform: translateX(-50%); white-space: nowrap; }
    .legend { display: flex; flex-wrap: wrap; gap: 0.35rem 1.1rem; margin: 0.1rem 0 1.1rem; padding: 0;
      list-style: none; }
    .path .legend { margin: 0.4rem 0 0; }
    .legend li { display: flex; align-items: center; gap: 0.45rem; }
    .key { width: 0.8rem; height: 0.8rem; border-radius: 3px; flex: none; }
    .calendar { display: grid; grid-template-columns: repeat(7, minmax(0, 1fr)); gap: 5px; }
    .calendar .head { font-size: 0.78rem; color: var(--soft); padding: 0 0.4rem; }
    .day {
      min-height: 3.6rem; border-radius: 8px; padding: 0.3rem 0.45rem; background: var(--void); position: relative;
      font-size: 0.8rem; line-height: 1.3; overflow: hidden;
    }
    .day b { font-weight: 560; display: block; }
    .day i { font-style: normal; }
    .day.fine { background: color-mix(in srgb, var(--up) 65%, var(--card)); }
    .day.bad { background: color-mix(in srgb, #c0392b var(--share), var(--card)); }
    .day.blank { background: none; }
    .bar { display: grid; grid-template-columns: 8.5rem 1fr 21rem; gap: 0.9rem; align-items: center;
      padding: 0.3rem 0; }
    .bar .track { height: 0.85rem; background: var(--line); border-radius: 5px; overflow: hidden; display: block; }
    .bar .track span { display: block; height: 100%; border-radius: 5px; min-width: 3px; }
    .bar .figure { text-align: right; font-weight: 450; white-space: normal; }
    .worst { padding: 1rem 0; border-top: 1px solid var(--line); break-inside: avoid; }
    .worst:first-of-type { border-top: 0; padding-top: 0; }
    .worst:last-child { padding-bottom: 0; }
    .worst .title { margin-bottom: 0.1rem; }
    .tag { display: inline-flex; align-items: center; gap: 0.4rem; }
    .worst ul { margin: 0.5rem 0 0; padding: 0.5rem 0 0.5rem 0.9rem; list-style: none;
      border-left: 3px solid var(--line); }
    .worst li { font-size: 0.875rem; color: var(--soft); padding: 0.05rem 0; }
    .advice { margin-top: 0.5rem; font-size: 0.92rem; }
    footer { color: var(--soft); font-size: 0.82rem; padding: 0.25rem 0.25rem 0; }
    @media (max-width: 40rem) {
      body { padding: 1.5rem 0.75rem 2rem; }
      section { padding: 1.1rem 1rem 1.2rem; border-radius: 12px; }
      h1 { font-size: 1.4rem; }
      .name, .figure { font-size: 0.95rem; }
      .band { height: 26px; }
      .calendar { gap: 3px; }
      .day { min-height: 2.9rem; padding: 0.2rem 0.3rem; font-size: 0.7rem; border-radius: 6px; }
      .calendar .head { padding: 0 0.3rem; }
      .bar { grid-template-columns: max-content 1fr; gap: 0.1rem 0.9rem; padding: 0.45rem 0; }
      .bar .track { grid-row: 2; grid-column: 1 / -1; }
      .axis span.minor { display: none; }
    }
    @media print {
      @page { margin: 14mm; }
      * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
      body { padding: 0; background: none; font-size: 10.5pt; }
      section { border-color: #cfcbc2; break-inside: avoid-page; }
      section.long { break-inside: auto; }
    }
    """
}
