import { formatTraitPairs, type TraitPair } from '#kernel/text/trait-pairs.ts';
import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { strangersName } from './strangers-text.ts';

/** A trait's name in a collection, with its most frequent values. */
export interface TraitChoice {
  readonly name: string;
  /** Number of different values of the trait. */
  readonly total: number;
  readonly values: readonly { readonly value: string; readonly items: number }[];
}

/** The required traits as a parameter. Empty if no trait is required. */
export const traitParameters = (traits: readonly TraitPair[]): Record<string, string> =>
  traits.length === 0 ? {} : { trait: formatTraitPairs(traits) };

/** Makes the link to the first page of items with other required traits. */
type LinkTo = (traits: readonly TraitPair[]) => string;

/** The required traits. Each trait is a link to the items without this requirement. */
export function traitChips(asked: readonly TraitPair[], linkTo: LinkTo): HtmlValue {
  if (asked.length === 0) return null;
  const chips = asked.map((trait) => {
    const others = asked.filter((other) => other !== trait);
    return html`<li><a class="chip" href="${linkTo(others)}" rel="nofollow" title="Remove this filter">${strangersName(trait.name)}: ${strangersName(trait.value)} ×</a></li>\n`;
  });
  return html`<div class="sorts"><ul aria-label="Filters that can be removed">${chips}</ul>${asked.length > 1 && html`<a href="${linkTo([])}">Remove all</a>`}</div>`;
}

/**
 * The traits of all items, in one folded part for each name. Choosing a value replaces a required trait of the same
 * name.
 */
export function traitChoices(
  choices: readonly TraitChoice[],
  asked: readonly TraitPair[],
  linkTo: LinkTo,
): HtmlValue {
  if (choices.length === 0) return null;
  return html`<div role="group" aria-label="Traits">
${choices.map((choice) => oneName(choice, asked, linkTo))}</div>`;
}

function oneName({ name, total, values }: TraitChoice, asked: readonly TraitPair[], linkTo: LinkTo): Markup {
  const others = asked.filter((trait) => trait.name !== name);
  const isAsked = others.length < asked.length;
  const links = values.map(({ value, items }) => {
    const isThis = asked.some((trait) => trait.name === name && trait.value === value);
    return html`<li><a class="chip" href="${linkTo([...others, { name, value }])}" rel="nofollow" ${isThis && html`aria-current="true"`}>${strangersName(value)}&nbsp;<small class="faint">${grouped(items)}</small></a></li>\n`;
  });
  const more = total - values.length;
  return html`<details class="filters" ${isAsked && html`open`}><summary>${strangersName(name)} <small class="faint">${plural(total, 'value')}</small></summary>
<div class="sorts"><ul>${links}</ul>${more > 0 && html`<span class="faint">and ${plural(more, 'rarer value')}</span>`}</div></details>
`;
}
