/**
 * Version of the rules that turn contents into searchable texts. These are the list of types below, the folding
 * (./fold.ts and its table), and the decoding of encoded bodies. The version is stored with the derived texts.
 */
export const textRulesVersion = 1;

/**
 * Maximum length of a metadata text whose keys and values can be searched one by one, in UTF-16 units. Honest texts
 * have some thousands. A longer text can only be searched as a text, because each of its values would be several terms
 * of an index.
 */
export const metadataMembersLengthMax = 1_000_000;

/**
 * Types whose bodies are texts, in addition to `text/*`, `*+json`, `*+xml` and `*+yaml` (docs/search.md, "What is
 * searchable").
 */
const searchableTypes: ReadonlySet<string> = new Set([
  'application/ecmascript',
  'application/graphql',
  'application/javascript',
  'application/json',
  'application/json5',
  'application/jsonl',
  'application/node',
  'application/pgp-encrypted',
  'application/pgp-keys',
  'application/pgp-signature',
  'application/rtf',
  'application/sql',
  'application/toml',
  'application/typescript',
  'application/x-csh',
  'application/x-ecmascript',
  'application/x-javascript',
  'application/x-json',
  'application/x-ndjson',
  'application/x-sh',
  'application/x-tex',
  'application/x-typescript',
  'application/x-www-form-urlencoded',
  'application/x-yaml',
  'application/xml',
  'application/xml-dtd',
  'application/yaml',
  'image/svg',
]);

const charsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

/**
 * Maximum number of bytes of a content type that is examined. Real content types are shorter; the limit keeps the work
 * small.
 */
const contentTypeMaxBytes = 1000;

/** The bytes as characters of one byte each, which is enough to compare with ASCII names. */
function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** The value of a charset parameter, in lower case and without quotes. `null` if there is no charset. */
function charsetOf(parameters: readonly string[]): string | null {
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=');
    if (equals < 0 || parameter.slice(0, equals).trim() !== 'charset') continue;
    return parameter
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$|^'(.*)'$/, '$1$2')
      .trim();
  }
  return null;
}

const isSearchableEssence = (essence: string): boolean =>
  (essence.startsWith('text/') && essence.length > 5) ||
  /^[^/]+\/[^/]+\+(json|xml|yaml)$/.test(essence) ||
  searchableTypes.has(essence);

/**
 * Whether bodies of a content type are searchable texts, if they are valid UTF-8. The content type is inscribed, and
 * can be any bytes. Letter case and parameters do not matter, except a charset that is neither UTF-8 nor ASCII.
 */
export function isSearchableType(contentType: Uint8Array): boolean {
  if (contentType.length === 0 || contentType.length > contentTypeMaxBytes) return false;
  const [essence = '', ...parameters] = latin1(contentType).toLowerCase().split(';');
  if (!isSearchableEssence(essence.trim())) return false;
  const charset = charsetOf(parameters);
  return charset === null || charsets.has(charset);
}
