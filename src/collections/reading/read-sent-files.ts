import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import { contentTypeOf, fileExtensions } from '#kernel/requests/file-types.ts';
import type { RequestValues } from '#kernel/requests/request-values.ts';
import { readGivenList } from './given-lists.ts';

/** A file in a creator's request. */
export interface SentFile {
  readonly name: string;
  readonly url: string;
  /** Number of bytes that the creator sent. Null if the creator sent no number. */
  readonly bytes: number | null;
}

/**
 * Reads the files of a request. An approval later fetches these files. Returns an empty list if the operator is to
 * upload the files.
 */
export function readSentFiles(
  values: RequestValues,
  given: unknown,
  urlProblem: (url: string) => string | null,
): readonly SentFile[] {
  const list = readGivenList(values, given, 'files');
  if (list.length > collectionBounds.filesByUrl) {
    values.fault(
      'files',
      `are ${list.length}, but a creation has at most ${collectionBounds.filesByUrl} files by URL. Leave files out; the operator then uploads them with satscribe mint upload`,
    );
    return [];
  }
  const files = list.flatMap(
    (item, place) => readSentFile(values, item, `files[${place}]`, urlProblem) ?? [],
  );
  const names = new Set<string>();
  for (const { name } of files) {
    if (names.has(name)) values.sentence('files', `files has the name ${name} twice.`);
    names.add(name);
  }
  return files;
}

/** Reads a file. Returns null if its name or URL cannot be read; `values` then has its faults. */
function readSentFile(
  values: RequestValues,
  given: unknown,
  field: string,
  urlProblem: (url: string) => string | null,
): SentFile | null {
  const fields = values.object(given, field);
  if (fields === null) return null;
  const name = readFileName(values, fields['name'], `${field}.name`);
  const url = values.text(fields['url'], `${field}.url`);
  if (url === null) values.required(fields['url'], `${field}.url`);
  else checkUrl(values, url, `${field}.url`, urlProblem);
  const bytes = values.whole(fields['size'], `${field}.size`);
  if (bytes === 0n) values.fault(`${field}.size`, 'is 0, but a file without bytes cannot be inscribed');
  return name === null || url === null ? null : { name, url, bytes: bytes === null ? null : Number(bytes) };
}

function checkUrl(
  values: RequestValues,
  url: string,
  name: string,
  urlProblem: (url: string) => string | null,
): void {
  const problem = url.length > collectionBounds.urlChars ? longUrl : urlProblem(url);
  if (problem !== null) values.fault(name, problem);
}

const longUrl = `has more than ${collectionBounds.urlChars} characters`;
/** Control characters, and characters that end a name in file systems and URL paths. */
const notInNames = /[\p{Cc}/\\]/u;

function readFileName(values: RequestValues, given: unknown, name: string): string | null {
  const text = values.text(given, name);
  if (text === null) return values.required(given, name);
  if (text.length > collectionBounds.nameChars)
    return values.fault(name, `has more than ${collectionBounds.nameChars} characters`);
  if (notInNames.test(text)) return values.fault(name, 'has a slash, a backslash or a control character');
  if (contentTypeOf(text) === null)
    return values.fault(
      name,
      `has an extension that cannot be inscribed; the extensions are ${fileExtensions}`,
    );
  return text;
}
