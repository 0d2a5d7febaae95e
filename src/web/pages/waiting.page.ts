import { html, type Markup } from '#web/html.ts';
import { layout } from '#web/layout.ts';

/** A problem that prevents the service from answering. */
export interface WaitingReason {
  readonly message: string;
  readonly advice: string;
}

export interface WaitingView {
  /** Empty if the service is starting, and no problem is known. */
  readonly reasons: readonly WaitingReason[];
  /** How long the page waits before it reloads, in seconds. */
  readonly againSeconds: number;
}

/** The page for all paths while the service cannot answer yet. It says what is missing, and what to do. */
export function waitingPage({ reasons, againSeconds }: WaitingView): Markup {
  const isStarting = reasons.length === 0;
  return layout({
    title: isStarting ? 'Starting · Satscribe' : 'Waiting · Satscribe',
    description: isStarting
      ? 'This Satscribe is starting: it answers in a few seconds.'
      : 'This Satscribe cannot answer yet. The page says why, and what to do.',
    site: null,
    isHome: true,
    main: html`<section class="lost">
  <h1>${isStarting ? 'Satscribe is starting' : 'Satscribe is waiting'}</h1>
  ${isStarting && html`<p>It takes a few seconds.</p>`}
  ${reasons.map(
    ({ message, advice }) => html`<p><strong>${message}</strong></p>
  <p>What to do: ${advice}</p>`,
  )}
  <p><small>This page reloads every ${againSeconds} seconds.</small></p>
</section>`,
  });
}
