import { type HtmlValue, html } from '#web/html.ts';
import { strangersName } from '#web/parts/strangers-text.ts';
import type { Trait } from '#web/titles-and-traits.ts';

/** The traits of an inscription, as the creator wrote them. Empty if the inscription has no traits. */
export function traitList(traits: readonly Trait[]): HtmlValue {
  if (traits.length === 0) return null;
  return html`<section class="traits"><h2>Traits</h2><ul>
${traits.map(({ name, value }) => html`<li>${name !== null && html`<span class="faint">${strangersName(name)}</span> `}<b>${strangersName(value)}</b></li>\n`)}</ul></section>`;
}
