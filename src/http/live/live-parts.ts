import { bannerPlace, type Site, tipPlace } from '#web/layout.ts';
import { type LiveView, liveStrip } from '#web/parts/live-strip.ts';

/** The parts of pages that change without a reload. Keys are their names in `data-live`. */
export function liveParts(
  view: LiveView,
  site: Pick<Site, 'tipHeight' | 'banner'>,
): Readonly<Record<string, string>> {
  return {
    strip: liveStrip(view).text,
    tip: tipPlace(site).text,
    banner: bannerPlace(site).text,
  };
}
