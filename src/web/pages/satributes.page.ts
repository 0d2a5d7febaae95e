import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { copyButton, heightLink, outputLink, satLink } from '#web/parts/identifiers.ts';

interface SatributeLine {
  readonly id: string;
  readonly version: number;
  readonly title: string;
  readonly about: string;
  readonly origin: string;
  readonly completeness: string;
  readonly spellings: readonly string[];
  readonly networks: 'all' | 'mainnet';
  readonly findable: boolean;
  readonly sats: number | null;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

export interface SatributesView {
  readonly site: Site;
  readonly network: string;
  readonly satributes: readonly SatributeLine[];
}

export interface SatributeView extends SatributeLine {
  readonly site: Site;
  readonly rule: {
    readonly kind: string;
    readonly why?: string;
    /** Outputs whose sats have this satribute. */
    readonly outputs?: readonly { readonly txid: string; readonly vout: number; readonly height: number }[];
    /** Number of ranges in the rule's list. */
    readonly count?: number;
  };
  readonly ranges: readonly Range[];
  readonly more: boolean;
  readonly explain?: { readonly sat: number; readonly has: boolean | null; readonly range: Range | null };
}

export function satributesPage({ site, network, satributes }: SatributesView): Markup {
  return layout({
    title: 'Satributes · Satscribe',
    description: 'Special sats: each satribute with its rule, its origin and its sats.',
    site,
    main: html`<section>
<h1>Satributes</h1>
<p>The properties that make a sat special, and their origins. Each definition has a version, which changes with its rule.</p>
<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Satribute</th><th scope="col">Meaning</th><th scope="col" class="num">Sats</th></tr></thead>
<tbody>
${satributes.map(
  (satribute) => html`<tr>
  <th scope="row"><a href="/satributes/${satribute.id}">${satribute.title}</a></th>
  <td>${satribute.about}${!satribute.findable && html` <span class="faint">Cannot be found here: ${reason(satribute, network)}.</span>`}</td>
  <td class="num nowrap" data-label="Sats">${satWords(satribute.sats)}</td>
</tr>
`,
)}
</tbody>
</table></div>
</section>`,
  });
}

function reason({ sats }: SatributeLine, network: string): string {
  return sats === null ? 'its sats are unknown here' : `it only exists on mainnet, not on ${network}`;
}

const satWords = (sats: number | null): HtmlValue =>
  sats === null ? html`<span class="faint">unknown</span>` : grouped(sats);

export function satributePage(view: SatributeView): Markup {
  const { site, id, version, title, about, origin, spellings, rule, ranges, more, sats, explain } = view;
  const row = (name: string, value: HtmlValue): Markup =>
    html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`;
  return layout({
    title: `${title} · Satribute · Satscribe`,
    description: about,
    site,
    main: html`<section>
<h1>${title}</h1>
<p>${about}</p>
<dl class="table">
${row('Id', html`<span class="copied"><span class="mono">${id}</span>${copyButton(id)}</span>`)}
${row('Version', grouped(version))}
${row('Also spelled', spellings.slice(1).join(', ') || html`<span class="faint">no other way</span>`)}
${row('Origin', html`<span class="wrap">${origin}</span>`)}
${row('Completeness', view.completeness)}
${row('Networks', view.networks === 'all' ? 'all' : 'only mainnet, where the events happened')}
${rule.outputs !== undefined && row('Sats of', outputLines(rule.outputs))}
${row('Sats', satWords(sats))}
${rule.count !== undefined && row('Ranges', grouped(rule.count))}
${rule.why !== undefined && row('Unknown because', rule.why)}
</dl>
<form class="find" action="/satributes/${id}" method="get"><label>Does a sat have it?
<input name="sat" required maxlength="80" autocomplete="off" spellcheck="false" value="${explain?.sat ?? ''}" size="44" placeholder="number, name, degree, decimal or percentile"></label>
<button type="submit">Explain</button></form>
${explain !== undefined && explanation(view, explain)}
${ranges.length > 0 && rangeList(ranges, more)}
<p class="more"><a href="/satributes">All satributes ›</a></p>
</section>`,
  });
}

type MadeOutput = NonNullable<SatributeView['rule']['outputs']>[number];

function outputLines(outputs: readonly MadeOutput[]): HtmlValue {
  return outputs.map(
    ({ txid, vout, height }) =>
      html`<div>${outputLink(`${txid}:${vout}`)} of block ${heightLink(height)}</div>`,
  );
}

function explanation(view: SatributeView, explain: NonNullable<SatributeView['explain']>): Markup {
  const { title } = view;
  const { sat, has, range } = explain;
  if (range !== null)
    return html`<p><span class="chip yes">yes</span> Sat ${satLink(sat)} is ${title}: it is one of ${plural(range.end - range.start, 'sat')}, starting at ${satLink(range.start)}.</p>`;
  return has === null
    ? html`<p><span class="chip part">unknown</span> It is unknown whether sat ${satLink(sat)} is ${title}: ${view.rule.why ?? 'its sats are unknown here'}.</p>`
    : html`<p><span class="chip">no</span> Sat ${satLink(sat)} is not ${title}.</p>`;
}

function rangeList(ranges: readonly Range[], more: boolean): Markup {
  return html`<h2>${more ? `The first ${ranges.length} ranges of its sats` : 'Its sats'}</h2>
<ol class="ranges">
${ranges.map((range) => html`<li>${rangeWords(range)}</li>\n`)}
</ol>`;
}

function rangeWords({ start, end }: Range): Markup {
  if (end - start === 1) return satLink(start);
  return html`${satLink(start)} to ${satLink(end - 1)} <span class="faint">(${plural(end - start, 'sat')})</span>`;
}
