/** The kind of a content, by its content type. The kind decides how the content is shown. */
export type Media = 'text' | 'image' | 'frame' | 'audio' | 'video' | 'font' | 'other';

// use maps instead of objects, because a content type can be any text, even the name of a property that every object
// has
const byType: ReadonlyMap<string, Media> = new Map([
  ['application/json', 'text'],
  ['application/javascript', 'text'],
  ['application/x-javascript', 'text'],
  ['application/yaml', 'text'],
  ['application/xml', 'text'],
  ['application/pgp-signature', 'text'],
  ['text/html', 'frame'],
  ['application/xhtml+xml', 'frame'],
  ['image/svg+xml', 'frame'],
  ['model/gltf+json', 'text'],
]);

const byFamily: ReadonlyMap<string, Media> = new Map([
  ['text', 'text'],
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
  ['font', 'font'],
]);

/** The kind of a content of this type. Types that browsers execute (HTML, SVG) are frames. */
export function mediaOf(contentType: string | null): Media {
  const [essence = ''] = (contentType ?? '').toLowerCase().split(';');
  const type = essence.trim();
  const [family = ''] = type.split('/');
  return byType.get(type) ?? byFamily.get(family) ?? 'other';
}

/** Whether browsers show a content as an SVG. */
export const isSvg = (contentType: string | null): boolean =>
  (contentType ?? '').toLowerCase().split(';', 1)[0]?.trim() === 'image/svg+xml';

/** A short word for a content type, for lists. */
export function mediaWords(contentType: string | null): string {
  if (contentType === null || contentType === '') return 'no type';
  const [essence = ''] = contentType.split(';');
  const words = essence.trim();
  return words.length <= 40 ? words : `${words.slice(0, 40)}…`;
}
