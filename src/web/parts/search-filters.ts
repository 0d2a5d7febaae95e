import { grouped } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { isolated } from '#web/parts/strangers-text.ts';

/**
 * Parameters of the page that filter matches. The page also has parameters for the text or hash, and for the search
 * mode.
 */
export const filterNames = [
  'contentType',
  'from',
  'to',
  'cursed',
  'metaprotocol',
  'parent',
  'title',
  'trait',
  'gallery',
  'key',
  'value',
  'sort',
  'order',
] as const;

/** The parameters of a search that exclude matches. */
export function filtersOf(parameters: Parameters): readonly string[] {
  return filterNames.filter((name) => name !== 'sort' && name !== 'order' && parameters[name] !== undefined);
}

export interface TypeCount {
  /** `null` if these matches have no content type. */
  readonly contentType: string | null;
  readonly count: number;
}

type Parameters = Readonly<Record<string, string>>;

const linkTo = (parameters: Parameters): string => `/?${new URLSearchParams(parameters).toString()}`;

/** The filters of a search as a form. Each active filter has a link that removes it. */
export function filterForm(parameters: Parameters, isText: boolean): Markup {
  const set = filterNames.filter((name) => parameters[name] !== undefined);
  const value = (name: string): string => parameters[name] ?? '';
  const kept = Object.entries(parameters).filter(
    ([name]) => !shownNames.has(name) && !(isText && modeNames.has(name)),
  );
  return html`<div class="filters">
${set.length > 0 && html`<p class="set">${set.map((name) => html`<a class="chip" href="${linkTo(without(parameters, name))}" title="Remove this filter">${name}: ${isolated(parameters[name] ?? '')} <span aria-hidden="true">×</span><span class="unseen"> (remove this filter)</span></a> `)}</p>`}
<details ${set.length > 0 ? html`open` : ''}><summary>Filters and order</summary>
<form action="/" method="get">
${kept.map(([name, given]) => html`<input type="hidden" name="${name}" value="${given}">`)}
<label>Type <input name="contentType" value="${value('contentType')}" placeholder="text/plain;charset=utf-8 or text/*" maxlength="200" list="types"></label>
<label>From block <input name="from" type="number" min="0" max="2147483647" value="${value('from')}"></label>
<label>To block <input name="to" type="number" min="0" max="2147483647" value="${value('to')}"></label>
<label>Numbers ${select('cursed', value('cursed'), [
    ['', 'all'],
    ['false', 'blessed'],
    ['true', 'cursed'],
  ])}</label>
<label>By ${select('sort', value('sort'), [
    ['', 'time'],
    ['number', 'number'],
    ['length', 'size'],
  ])}</label>
<label>Order ${select('order', value('order'), [
    ['', 'first to last'],
    ['desc', 'last to first'],
  ])}</label>
${
  isText &&
  html`<label class="check"><input type="checkbox" name="words" value="1" ${checked(parameters, 'words')}> whole words, in any order</label>
<label class="check"><input type="checkbox" name="fuzzy" value="1" ${checked(parameters, 'fuzzy')}> and similar words</label>`
}
<button type="submit">Apply</button>
</form>
</details>
</div>`;
}

/** Parameters for which the form has its own fields. */
const shownNames: ReadonlySet<string> = new Set(['contentType', 'from', 'to', 'cursed', 'sort', 'order']);
const modeNames: ReadonlySet<string> = new Set(['words', 'fuzzy', 'all']);

const checked = (parameters: Parameters, name: string): Markup | null =>
  parameters[name] === undefined ? null : html`checked`;

function select(
  name: string,
  value: string,
  options: readonly (readonly [value: string, words: string])[],
): Markup {
  return html`<select name="${name}">${options.map(([given, words]) => html`<option value="${given}" ${given === value ? html`selected` : ''}>${words}</option>`)}</select>`;
}

function without(parameters: Parameters, name: string): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([given]) => given !== name));
}

/** Maximum number of content types in the menu. The form also accepts any other type. */
const typesMax = 8;

/** Number of matches by content type. Each type links to the search with only this type. */
export function typeCounts(
  types: readonly TypeCount[],
  otherTypes: number,
  parameters: Parameters,
): Markup | null {
  if (types.length === 0 && otherTypes === 0) return null;
  const shown = types.slice(0, typesMax);
  const rest = types.slice(typesMax).reduce((sum, { count }) => sum + count, otherTypes);
  const chip = ({ contentType, count }: TypeCount): Markup => {
    const words = html`${isolated(contentType) ?? 'no type'} <b>${grouped(count)}</b>`;
    // do not use a content type with a star as a filter, because in a filter a star means all types of a class
    const isFilter = contentType !== null && contentType !== '' && !contentType.includes('*');
    return isFilter
      ? html`<a class="chip" href="${linkTo({ ...parameters, contentType })}">${words}</a> `
      : html`<span class="chip">${words}</span> `;
  };
  return html`<p class="types" aria-label="Matches by content type">${shown.map(chip)}${rest > 0 && html`<span class="chip">others <b>${grouped(rest)}</b></span>`}</p>
<datalist id="types">${types.map(({ contentType }) => contentType !== null && html`<option value="${contentType}"></option>`)}</datalist>`;
}
