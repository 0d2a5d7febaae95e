import { contentTypeOf, fileExtensions } from '#kernel/requests/file-types.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { type FileTerms, orderBounds } from '#orders/inscribing/order-terms.ts';
import { urlProblem } from '#outgoing/stranger-url.ts';
import type { DataContent } from './data-url.ts';
import type { ReadAhead } from './read-ahead.ts';

/** Source of a content. */
export type ContentSource =
  | { readonly kind: 'data'; readonly data: DataContent }
  | { readonly kind: 'url'; readonly url: string };

/** A file or delegate of a request. */
export interface ReadFile {
  /** Terms with lengths instead of contents. */
  readonly terms: FileTerms;
  readonly name: string | null;
  /** Source of the body. Null for a delegate without its own body, and for a file with only a size. */
  readonly body: ContentSource | null;
  /** Source of the metadata, which is JSON. */
  readonly metadata: ContentSource | null;
  /** Name of the field in the request, for faults that are found later: `files[3]`. */
  readonly field: string;
}

type Item = Readonly<Record<string, unknown>>;

/** Fields of files and delegates whose texts may be as long as a body. All other texts are short. */
export const contentFields = ['dataURL', 'metadataDataURL'] as const;

/** Maximum number of bytes of decoded contents in one call (interface, section 8). */
export const contentBytesMax = 50_000_000;
/** Assumed type in a price without file names. Most orders are texts or images, whose types have about this length. */
const unknownType = 'text/plain;charset=utf-8';

export interface FileOptions {
  /** Whether contents may be lengths, and names may be missing. */
  readonly isPrice: boolean;
  /** Whether the order may have neither files nor delegates. */
  readonly isOptional: boolean;
  readonly ahead: ReadAhead;
  /** Whether a URL is a file URL of this service. If so, a price needs no size. */
  readonly isOwnUrl: (url: string) => boolean;
}

/** The URLs of contents and metadata. */
export const urlsOf = (files: readonly ReadFile[]): string[] =>
  files.flatMap(({ body, metadata }) =>
    [body, metadata].flatMap((source) => (source?.kind === 'url' ? [source.url] : [])),
  );

/**
 * Reads the files, then the delegates of an order. These are the inscriptions of the order, in the sequence of their
 * indexes.
 */
export function readFiles(values: RequestValues, order: Item, options: FileOptions): ReadFile[] {
  const files = values.list(order['files'], 'files');
  const delegates = values.list(order['delegates'], 'delegates');
  const count = files.length + delegates.length;
  if (count > orderBounds.files) {
    values.fault('files', `and delegates are ${count}, but an order has at most ${orderBounds.files}`);
    return [];
  }
  if (count === 0 && !options.isOptional && values.faults.length === 0) {
    values.sentence('files', 'An order needs files or delegates.');
  }
  const read = [
    ...files.flatMap((item, index) => readItem(values, item, `files[${index}]`, options, readFile)),
    ...delegates.flatMap((item, index) =>
      readItem(values, item, `delegates[${index}]`, options, readDelegate),
    ),
  ];
  const bytes = read.reduce((sum, { body, metadata }) => sum + dataBytes(body) + dataBytes(metadata), 0);
  if (bytes > contentBytesMax) {
    values.fault(
      'files',
      `have ${bytes} bytes in data URLs, but one request may have at most ${contentBytesMax}`,
    );
  }
  return read;
}

const dataBytes = (source: ContentSource | null): number => (source?.kind === 'data' ? source.data.bytes : 0);

type ItemReader = (values: RequestValues, item: Item, field: string, options: FileOptions) => ReadFile;

function readItem(
  values: RequestValues,
  given: unknown,
  field: string,
  options: FileOptions,
  read: ItemReader,
): ReadFile[] {
  const item = values.object(given, field);
  return item === null ? [] : [read(values, item, field, options)];
}

function readFile(values: RequestValues, item: Item, field: string, options: FileOptions): ReadFile {
  const { isPrice } = options;
  const { name, contentType } = readName(values, item, field, isPrice);
  const body = readSource(values, item, field, { data: 'dataURL', url: 'url' }, options);
  const size = values.whole(item['size'], `${field}.size`);
  // an invalid dataURL is already a fault
  const isSent = isGiven(item['dataURL']);
  if (body === null && !isSent && !isPrice) values.sentence(field, `${field} needs a url or a dataURL.`);
  if (isPrice) assumeContent(values, item, field, isSent || isOwn(body, options));
  return {
    ...metadataOf(values, item, field, options, {
      contentType,
      body: body?.kind === 'data' ? body.data.bytes : Number(size ?? 0n),
      delegate: null,
    }),
    name,
    body,
    field,
  };
}

function readName(
  values: RequestValues,
  item: Item,
  field: string,
  isPrice: boolean,
): Pick<ReadFile, 'name'> & Pick<FileTerms, 'contentType'> {
  const name = values.text(item['name'], `${field}.name`);
  if (!isPrice) values.required(item['name'], `${field}.name`);
  const contentType = name === null ? unknownType : contentTypeOf(name);
  if (contentType === null) {
    const words = `has an extension that cannot be inscribed; the extensions are ${fileExtensions}`;
    values.fault(`${field}.name`, words);
  }
  return { name, contentType };
}

/** Whether a content is at a URL of this service. */
const isOwn = (source: ContentSource | null, { isOwnUrl }: Pick<FileOptions, 'isOwnUrl'>): boolean =>
  source?.kind === 'url' && isOwnUrl(source.url);

/**
 * Notes that a price assumes a content. Sent sizes are often wrong, so if the content is known, its real length is
 * used.
 */
function assumeContent(values: RequestValues, item: Item, field: string, isKnown: boolean): void {
  if (!isKnown) {
    values.required(item['size'], `${field}.size`);
    values.assume('the content of ', field);
  }
  if (!isGiven(item['name'])) values.assume(`${field}.name`);
}

/** Reads a delegate. It shows the content of another inscription, and may also have its own body. */
function readDelegate(values: RequestValues, item: Item, field: string, options: FileOptions): ReadFile {
  const body = readSource(values, item, field, { data: 'dataURL' }, options);
  const data = body?.kind === 'data' ? body.data : null;
  const delegate = values.inscriptionId(item['delegateId'], `${field}.delegateId`);
  const terms = { contentType: data?.mediaType ?? null, body: data?.bytes ?? null, delegate };
  return { ...metadataOf(values, item, field, options, terms), name: null, body, field };
}

/** Fields that files and delegates have in common. */
function metadataOf(
  values: RequestValues,
  item: Item,
  field: string,
  options: FileOptions,
  terms: Pick<FileTerms, 'contentType' | 'body' | 'delegate'>,
): Pick<ReadFile, 'terms' | 'metadata'> {
  const metadata = readSource(values, item, field, metadataNames, options);
  const size = metadataSize(values, item, field, {
    isPrice: options.isPrice,
    isKnown: isOwn(metadata, options),
  });
  const bytes = metadata?.kind === 'data' ? metadata.data.bytes : size;
  return {
    terms: {
      ...terms,
      contentEncoding: null,
      metaprotocol: values.text(item['metaprotocol'], `${field}.metaprotocol`),
      metadata: bytes === 0 ? null : bytes,
    },
    metadata,
  };
}

const metadataNames = { data: 'metadataDataURL', url: 'metadataUrl' } as const;

/** The length of metadata. It is sent together with the metadata, or in a price instead of the metadata. */
function metadataSize(
  values: RequestValues,
  item: Item,
  field: string,
  { isPrice, isKnown }: { readonly isPrice: boolean; readonly isKnown: boolean },
): number {
  const { data, url } = metadataNames;
  const name = `${field}.metadataSize`;
  const size = Number(values.whole(item['metadataSize'], name) ?? 0n);
  if (isGiven(item[data]) || isKnown) return size;
  const isAtUrl = isGiven(item[url]);
  if (!isPrice && !isAtUrl && size > 0) values.fault(name, `needs a ${url} or a ${data} in addition`);
  if (isPrice && isAtUrl) values.required(item['metadataSize'], name);
  if (isPrice && size > 0) values.assume('the metadata of ', field);
  return size;
}

/** The content of the data field. If the data field is absent, the content of the URL field. */
function readSource(
  values: RequestValues,
  item: Item,
  field: string,
  names: { readonly data: string; readonly url?: string },
  { ahead }: FileOptions,
): ContentSource | null {
  const dataName = `${field}.${names.data}`;
  const dataUrl = values.longText(item[names.data], dataName);
  if (dataUrl !== null) {
    const data = ahead.dataUrl(dataUrl);
    return data.kind === 'content' ? { kind: 'data', data } : values.fault(dataName, data.reason);
  }
  const urlName = `${field}.${names.url}`;
  const url = names.url === undefined ? null : values.text(item[names.url], urlName);
  if (url === null) return null;
  // private addresses are refused when the content is fetched
  const problem = urlProblem(url, { allowPrivate: true });
  if (problem !== null) values.fault(urlName, problem);
  return { kind: 'url', url };
}
