import { type HtmlValue, html, type Markup } from '#web/html.ts';

/** A choice of a list, shown as a link. */
export interface ListChoice {
  readonly words: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Choices in one line. One of them is the current choice. */
export const choicesNav = (label: string, choices: readonly ListChoice[], isSmall = false): HtmlValue =>
  choices.length > 0 &&
  html`<nav class="tabs${isSmall && ' small'}" aria-label="${label}">${choices.map(choiceLink)}</nav>`;

const choiceLink = ({ words, href, isCurrent }: ListChoice): Markup =>
  html`<a href="${href}"${isCurrent && html` aria-current="true"`}>${words}</a> `;
