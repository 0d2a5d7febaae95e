import { html, type Markup } from '#web/html.ts';

/**
 * The used percentage of a rune's mints, as a bar.
 *
 * @param percent 0 to 100
 * @param label the bar's name for people who cannot see the bar
 */
export function mintBar(percent: number, label: string): Markup {
  return html`<progress class="progress" value="${percent}" max="100" aria-label="${label}">${percentWords(percent)}</progress>`;
}

/** A percentage in words. 99.99 is never shown as 100, because some mints are left. */
export function percentWords(percent: number): string {
  if (percent > 0 && percent < 0.01) return 'below 0.01 %';
  const rounded = Math.floor(percent * 100) / 100;
  return `${rounded} %`;
}
