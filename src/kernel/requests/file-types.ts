/**
 * Content types by file extension. Extensions of the public interface (section 2.5) have the types of ord (media.rs).
 * ord does not know `gz`.
 */
const typeByExtension: ReadonlyMap<string, string> = new Map([
  ['apng', 'image/apng'],
  ['asc', 'application/pgp-signature'],
  ['avif', 'image/avif'],
  ['css', 'text/css'],
  ['flac', 'audio/flac'],
  ['gif', 'image/gif'],
  ['glb', 'model/gltf-binary'],
  ['gz', 'application/gzip'],
  ['html', 'text/html;charset=utf-8'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['mp3', 'audio/mpeg'],
  ['mp4', 'video/mp4'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['stl', 'model/stl'],
  ['svg', 'image/svg+xml'],
  ['txt', 'text/plain;charset=utf-8'],
  ['wav', 'audio/wav'],
  ['webm', 'video/webm'],
  ['webp', 'image/webp'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
]);

/** The extensions of files that can be ordered, for people. */
export const fileExtensions = [...typeByExtension.keys()].toSorted().join(', ');

/** The content type of a file by its name. `null` if files with this extension are not accepted. */
export function contentTypeOf(name: string): string | null {
  const dot = name.lastIndexOf('.');
  return typeByExtension.get(name.slice(dot + 1).toLowerCase()) ?? null;
}
