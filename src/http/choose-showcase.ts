import { type Media, mediaOf } from '#web/media.ts';

interface Candidate {
  readonly key: number;
  readonly contentId: number | null;
  readonly contentType: string | null;
}

/** How many of each kind the first page shows at most: mints of tokens would fill it otherwise. */
const shares: Readonly<Record<Media, number>> = {
  image: 8,
  frame: 6,
  video: 2,
  audio: 2,
  text: 6,
  font: 1,
  other: 1,
};
/** Three full rows on a wide screen. */
const shownMax = 15;

/** Keys to show from the newest inscriptions: various kinds, no content twice, newest first. */
export function chooseShowcase(newest: readonly Candidate[]): number[] {
  const left: Record<Media, number> = { ...shares };
  const seen = new Set<number>();
  const chosen: number[] = [];
  for (const { key, contentId, contentType } of newest) {
    if (chosen.length === shownMax) break;
    const media = mediaOf(contentType);
    if (contentId === null || seen.has(contentId) || left[media] === 0) continue;
    seen.add(contentId);
    left[media] -= 1;
    chosen.push(key);
  }
  return chosen;
}
