import { type InscriptionKind, inscriptionKinds } from '#chain/inscriptions/inscription-filter.ts';
import type { ListChoice } from '#web/parts/choices.ts';

const kindNames: Readonly<Record<InscriptionKind, string>> = {
  images: 'Images',
  html: 'HTML',
  text: 'Text',
  json: 'JSON',
  audio: 'Audio',
  video: 'Video',
};

/** Links that limit a list to a kind of content, and a link to the complete list. */
export function kindChoices(
  current: string | undefined,
  href: (kind: InscriptionKind | undefined) => string,
): ListChoice[] {
  const choice = (kind: InscriptionKind | undefined, words: string): ListChoice => ({
    words,
    href: href(kind),
    isCurrent: kind === current,
  });
  return [choice(undefined, 'All'), ...inscriptionKinds.map((kind) => choice(kind, kindNames[kind]))];
}
