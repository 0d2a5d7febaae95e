import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';

/** A fact, or the reason why it is unknown, in words. */
export type Known<Fact> = { readonly known: Fact } | { readonly unknown: string };

/** A number that is counted up to a bound. */
export interface BoundedCount {
  readonly count: number;
  /** Whether there are or may be more things than `count`. */
  readonly isLeast: boolean;
}

/** One fact in a list of facts (`dl.pairs`). */
export const fact = (name: string, value: HtmlValue): Markup =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`;

/** The reason for an unknown fact. */
export const unknownWords = (why: string | null): Markup =>
  html`<span class="faint">unknown${why !== null && `: ${why}`}</span>`;

export const satsWords = (sats: number): Markup =>
  html`<span class="nowrap">${grouped(sats)} ${sats === 1 ? 'sat' : 'sats'}</span>`;

/** A fee rate in sats per virtual byte. Small rates have one or two decimals. */
export function feeRateWords(fee: number, vsize: number): Markup {
  const rate = fee / vsize;
  const digits = rate < 10 ? 2 : rate < 100 ? 1 : 0;
  return html`<span class="nowrap">${grouped(Number(rate.toFixed(digits)))} sat/vB</span>`;
}
