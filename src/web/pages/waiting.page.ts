import { html, type Markup } from '#web/html.ts';
import { layout } from '#web/layout.ts';

/** A problem that keeps a service from answering. */
export interface WaitingReason {
  readonly message: string;
  readonly advice: string;
}

export interface WaitingView {
  /** Empty: it starts, and lacks nothing as far as it knows. */
  readonly reasons: readonly WaitingReason[];
  /** The page asks for itself again after this time. */
  readonly againSeconds: number;
}

/** The page of all paths while nothing can be served yet: what is missing, and what to do. */
export function waitingPage({ reasons, againSeconds }: WaitingView): Markup {
  const isStarting = reasons.length === 0;
  return layout({
    title: isStarting ? 'Starting · Satscribe' : 'Waiting · Satscribe',
    description: isStarting
      ? 'This Satscribe is starting: it answers in a few seconds.'
      : 'This Satscribe waits for what it needs to answer. The page says what to do.',
    site: null,
    isHome: true,
    main: html`<section class="lost">
  <h1>${isStarting ? 'Satscribe is starting' : 'Satscribe is waiting'}</h1>
  ${isStarting && html`<p>It takes a few seconds.</p>`}
  ${reasons.map(
    ({ message, advice }) => html`<p><strong>${message}</strong></p>
  <p>What to do: ${advice}</p>`,
  )}
  <p><small>This page looks again every ${againSeconds} seconds.</small></p>
</section>`,
  });
}
