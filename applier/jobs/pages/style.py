"""The appearance of pages: in the reader's theme, at any width, and on paper."""

STYLE = """
:root { color-scheme: light dark; --page: #f5f6f8; --card: #fff; --text: #1a2029; --muted: #5a6472; --line: #e1e5ea;
  --soft: #f0f2f5; --accent: #1f6fb8; --inserted: #1f6fb8; --updated: #b46c00; --deleted: #c2255c; --one: #1f6fb8;
  --primary: #2a7f6c; --unique: #1f6fb8; --other: #7d4fc0; --scan: #c2255c; --duplicate: #b46c00; --missing: #c2255c;
  --warning: #fff3d6; --shadow: 0 1px 2px rgb(16 24 40 / .06), 0 4px 16px rgb(16 24 40 / .05); }
@media (prefers-color-scheme: dark) { :root { --page: #0e1217; --card: #171c24; --text: #e7ebf1; --muted: #9aa5b5;
  --line: #2a323d; --soft: #1f2630; --accent: #6cb2f4; --inserted: #4f9fe8; --updated: #e3a235; --deleted: #ef6690;
  --one: #4f9fe8; --primary: #4cc0a0; --unique: #4f9fe8; --other: #b491f2; --scan: #ef6690; --duplicate: #e3a235;
  --missing: #ef6690; --warning: #3a2e12; --shadow: none; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  color: var(--text); background: var(--page); margin: 0 auto; padding: 2.2rem 1.5rem 3rem; max-width: 76rem; }
header { margin: 0 0 1.4rem; }
.kind { color: var(--accent); font-weight: 600; font-size: .8rem; letter-spacing: .06em; text-transform: uppercase;
  margin: 0; }
h1 { font-size: clamp(1.35rem, 1rem + 1.8vw, 2rem); line-height: 1.2; letter-spacing: -.015em; margin: .15rem 0 .35rem;
  overflow-wrap: anywhere; }
.lead { color: var(--muted); margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; line-height: 1.3; margin: 0 0 .9rem; letter-spacing: -.005em; }
p { margin: .4rem 0; }
main { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
.tiles, .warnings, section { grid-column: 1 / -1; } .half { grid-column: span 1; }
section, .tiles > div { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  box-shadow: var(--shadow); }
section { padding: 1.2rem 1.4rem 1.3rem; min-width: 0; }
.tiles { display: flex; flex-wrap: wrap; gap: .9rem; margin: 0; }
.tiles > div { flex: 1 1 7.4rem; padding: .8rem 1.1rem .75rem; display: flex;
  flex-direction: column-reverse; justify-content: flex-end; }
.tiles dt { color: var(--muted); font-size: .85rem; } .tiles dt i { vertical-align: -.02em; }
.tiles dd { margin: 0; font-size: 1.55rem; line-height: 1.25; font-weight: 650; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
i { display: inline-block; width: .72em; height: .72em; border-radius: 3px; margin-right: .4em; }
figure { margin: 0; min-width: 0; } figure + figure, figure + .scroll, p + figure, figure + p, ul + figure
  { margin-top: 1.3rem; }
figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .2rem 1.2rem; font-weight: 600;
  font-size: .93rem; margin-bottom: .7rem; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; font-weight: 400; color: var(--muted); font-size: .87rem; }
svg { display: block; width: 100%; }
.inserted { fill: var(--inserted); background: var(--inserted); } .updated { fill: var(--updated);
  background: var(--updated); } .deleted { fill: var(--deleted); background: var(--deleted); }
.one { fill: var(--one); background: var(--one); } .primary { fill: var(--primary); background: var(--primary); }
.unique { fill: var(--unique); background: var(--unique); } .other-key { fill: var(--other); background: var(--other); }
.scan { fill: var(--scan); background: var(--scan); } .duplicate { fill: var(--duplicate);
  background: var(--duplicate); } .missing { fill: var(--missing); background: var(--missing); }
ul.bars { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem 0; font-size: .9rem; }
ul.bars li { display: grid; grid-template-columns: minmax(6rem, 15rem) 1fr 7.6rem; gap: .8rem; align-items: center; }
.half ul.bars li { grid-template-columns: minmax(5rem, 9.5rem) 1fr 6.4rem; }
.label { overflow-wrap: anywhere; line-height: 1.25; }
.value { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg.bar { height: 15px; background: var(--soft); border-radius: 4px; overflow: hidden; }
.plot { padding-left: 2.9rem; } .area { position: relative; }
.timeline .area { height: clamp(9rem, 24vw, 15rem); } .timeline svg { position: absolute; inset: 0; height: 100%; }
.line { position: absolute; left: 0; right: 0; border-top: 1px solid var(--line); height: 0; }
.line b { position: absolute; right: 100%; top: -.75em; padding-right: .55rem; font-weight: 400; color: var(--muted);
  font-size: .8rem; font-variant-numeric: tabular-nums; }
.hover { fill: transparent; } .hover:hover { fill: var(--text); fill-opacity: .09; }
.times { position: relative; height: 2.6rem; font-size: .8rem; line-height: 1.25; color: var(--muted); }
.tick { position: absolute; top: .5rem; transform: translateX(-50%); text-align: center; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.tick::before { content: ""; position: absolute; left: 50%; top: -.5rem; height: .35rem;
  border-left: 1px solid var(--muted); }
.tick.end { transform: translateX(-100%); text-align: right; } .tick.end::before { left: 100%; }
.marks { position: relative; height: 1.75rem; } .plot > .narrow { display: none; }
.marks a { position: absolute; transform: translateX(-50%); background: var(--text); color: var(--card);
  font-size: .76rem; line-height: 1.25rem; min-width: 1.25rem; padding: 0 .35rem; border-radius: .65rem;
  text-align: center; text-decoration: none; font-weight: 600; white-space: nowrap; }
.marks a::after { content: ""; position: absolute; left: 50%; top: 100%; height: .4rem;
  border-left: 1px solid var(--text); }
.marks a:hover, .marks a:focus-visible { background: var(--accent); }
.marks small { font-weight: 400; margin-left: .15em; }
.event { position: absolute; bottom: -5px; width: 9px; height: 9px; margin-left: -4.5px; background: var(--card);
  border: 2px solid var(--text); transform: rotate(45deg); border-radius: 2px; }
.key .event { position: static; display: inline-block; margin: 0 .55em 0 .2em; }
.key > span { white-space: nowrap; } .key { color: var(--muted); font-size: .85rem; margin: .5rem 0 0; }
.multiples { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1.2rem 1.6rem;
  margin-top: .6rem; }
.small { margin: 0 !important; } .small figcaption { margin: 0 0 .25rem; font-size: .88rem; flex-wrap: nowrap; }
.small .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.small .total { color: var(--muted); font-weight: 400; font-variant-numeric: tabular-nums; }
.small svg { height: 3.4rem; } .small .area { border-bottom: 1px solid var(--line);
  padding-top: .85rem; }
.small .top { position: absolute; right: 0; top: -.1rem; font-size: .74rem; line-height: 1; color: var(--muted); }
ol.list { list-style: none; margin: 0; padding: 0; } ol.list > li { display: grid; grid-template-columns: 1.9rem 1fr;
  gap: 0 .4rem; padding: .75rem 0; border-top: 1px solid var(--line); } ol.list > li:first-child { border: 0;
  padding-top: 0; } ol.list > li:target { background: var(--soft); }
.number { font-size: .76rem; font-weight: 600; line-height: 1.3rem; min-width: 1.3rem; padding: 0 .3rem; height: 1.3rem;
  text-align: center; border-radius: .65rem; background: var(--text); color: var(--card); justify-self: start; }
ol.list .head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .1rem 1rem; font-weight: 600;
  overflow-wrap: anywhere; } ol.list .body { min-width: 0; } ol.list svg.bar { height: 7px; margin: .35rem 0 .3rem; }
ol.plain { max-height: 34rem; overflow: auto; } ol.plain > li { display: block; }
.meta { color: var(--muted); font-size: .85rem; margin: .1rem 0 0; overflow-wrap: anywhere; }
code { font: .86em/1.45 ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  overflow-wrap: anywhere; } .statement { display: block; background: var(--soft); border-radius: 6px;
  padding: .4rem .6rem; margin-top: .4rem; }
.scroll { overflow: auto; max-height: 32rem; margin-top: 1rem; }
table { border-collapse: collapse; font-size: .88rem; width: max-content; min-width: 100%; }
thead th { position: sticky; top: 0; background: var(--card); box-shadow: 0 1px 0 var(--line); }
th { text-align: left; color: var(--muted); font-weight: 500; white-space: nowrap; vertical-align: bottom; }
th, td { padding: .38rem 1.1rem .38rem 0; border-bottom: 1px solid var(--line); } td { vertical-align: top;
  max-width: 26rem; overflow-wrap: anywhere; }
tr > :last-child { padding-right: 0; } tbody tr:last-child td { border-bottom: 0; }
tbody tr:hover { background: var(--soft); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.facts { display: grid; grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr); gap: .3rem 1.4rem; margin: 0;
  font-size: .9rem; } .facts dt { color: var(--muted); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.warnings p { background: var(--warning); border-radius: 10px; padding: .6rem 1rem; margin: 0 0 .5rem;
  overflow-wrap: anywhere; }
.way { display: grid; grid-template-columns: auto minmax(2rem, 1fr) auto; align-items: start; gap: 0 1rem; }
.way > div { min-width: 0; overflow-wrap: anywhere; } .way b { display: block; font-size: 1.05rem; }
.way .from { max-width: 22rem; } .way .to { max-width: 26rem; }
.way .track { position: relative; height: 0; border-top: 3px solid var(--accent); margin-top: .75rem;
  text-align: center; }
.way .track::after { content: ""; position: absolute; right: -2px; top: -8.5px; border: 7px solid transparent;
  border-left: 10px solid var(--accent); border-right: 0; }
.way .track span { position: relative; top: -1.9rem; color: var(--muted); font-size: .85rem; }
.stop { border-left: 4px solid var(--accent); padding: .1rem 0 .1rem .8rem; margin: 1rem 0 0;
  overflow-wrap: anywhere; }
footer { color: var(--muted); font-size: .85rem; margin-top: 1.6rem; }
@media (max-width: 44rem) { body { padding: 1.3rem .9rem 2rem; } main { gap: .8rem; }
  section { padding: 1rem; border-radius: 10px; } .half { grid-column: 1 / -1; }
  .tiles { gap: .6rem; } .tiles > div { flex-basis: 6.8rem; padding: .6rem .8rem; }
  .tiles dd { font-size: 1.25rem; } .plot { padding-left: 2.4rem; } .plot > .wide { display: none; }
  .plot > .narrow { display: block; }
  ul.bars li, .half ul.bars li { grid-template-columns: 1fr max-content; gap: .1rem .8rem; }
  ul.bars .bar { grid-row: 2; grid-column: 1 / -1; } .multiples { grid-template-columns: 1fr; }
  ol.list > li { grid-template-columns: 1.7rem 1fr; } .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .5rem; } .way { grid-template-columns: 1fr; gap: .5rem; } .way .track { display: none; } }
@media print { body { padding: 0; max-width: none; } .scroll, ol.plain { max-height: none; }
  section, .tiles > div { box-shadow: none; break-inside: avoid; } }
"""
