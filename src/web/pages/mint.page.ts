import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type MintForm, mintForm } from '#web/parts/mint-form.ts';
import { type MintPhase, phaseList } from '#web/parts/mint-phases.ts';
import { type MintSupply, supplyPart } from '#web/parts/mint-supply.ts';
import { type MintTile, mintArt } from '#web/parts/mint-tiles.ts';
import { isVisible, strangersName } from '#web/parts/strangers-text.ts';

export interface MintPageView {
  readonly site: Site | null;
  readonly slug: string;
  /** The collection's name. The name, the creator's name and the description are texts of a stranger. */
  readonly name: string;
  readonly creator: string;
  readonly description: string;
  /** Links that a stranger chose: only http and https URLs. */
  readonly links: readonly { readonly words: string; readonly href: string }[];
  readonly tiles: readonly MintTile[];
  /** Whether all items are the same file. */
  readonly isEdition: boolean;
  readonly supply: MintSupply;
  readonly phases: readonly MintPhase[];
  /** Price of the service per item, in sats. */
  readonly serviceFee: number;
  /** Dollars per bitcoin, for prices in dollars. `null` if the operator sets no rates. */
  readonly dollarsPerCoin: number | null;
  readonly form: MintForm;
}

/** The page on which people buy items of a collection before the items are inscribed. */
export function mintPage(view: MintPageView): Markup {
  const { site, slug, name, creator, description, tiles, isEdition, supply, form } = view;
  return layout({
    title: `Mint ${name} · Satscribe`,
    description: `${name} by ${creator}: ${plural(supply.total, 'inscription')} to mint on Bitcoin, with the number left and the price.`,
    site,
    scripts: ['order/mint-page.js'],
    main: html`<div class="mint">
<div class="mint-show">${mintArt(tiles, isEdition, supply.total)}</div>
<div class="mint-side">
<h1 class="wrap">${strangersName(name)}</h1>
<p class="faint wrap">by ${strangersName(creator)} · <span class="nowrap">${isEdition ? `edition of ${grouped(supply.total)}` : plural(supply.total, 'item')}</span> · <a href="/collection/${slug}">On the market</a></p>
${isVisible(description) && html`<p class="wrap lines">${strangersName(description)}</p>`}
${linksPart(view)}
${supplyPart(supply)}
${phaseList(view.phases, view, supply.sale === 'closed')}
${mintForm(form, supply.sale)}
</div>
</div>`,
  });
}

/** Links of strangers. The linked sites learn nothing about the visitor, and search engines do not count the links. */
const linksPart = ({ links }: Pick<MintPageView, 'links'>): HtmlValue =>
  links.length > 0 &&
  html`<p class="tools">${links.map(({ words, href }) => html`<a href="${href}" rel="nofollow noopener noreferrer ugc">${words}</a> `)}</p>`;
