import { grouped } from '#web/format.ts';
import { html } from '#web/html.ts';
import { type LiveView, liveStrip } from '#web/parts/live-strip.ts';

/** The parts of pages that change without a reload, by the name in their `data-live`. */
export function liveParts(view: LiveView): Readonly<Record<string, string>> {
  const { block } = view;
  return {
    strip: liveStrip(view).text,
    ...(block === null ? {} : { tip: html`block ${grouped(block.height)}`.text }),
  };
}
