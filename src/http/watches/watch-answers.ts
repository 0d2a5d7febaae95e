import type { FastifyRequest } from 'fastify';
import { originOf } from '#http/server/headers/request-origin.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { AskingKey, KnownKey } from '#kernel/contracts/asking-key.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { KeyWatches } from '#watches/key-watches.ts';
import type { Watch, WatchKind } from '#watches/watch.ts';

/** The watches of keys. Throws `watches_off` if this process keeps no watches. */
export function neededWatches({ watches = null }: Pick<AppDependencies, 'watches'>): KeyWatches {
  if (watches === null) throw new AppError('watches_off', 'this service keeps no watches');
  return watches;
}

/** The asking key as a known key. The guard admits no other askers, unless the service has no keys. */
export function ownerOf(key: AskingKey): KnownKey {
  if (key.kind === 'known') return key;
  throw new AppError(
    'key_missing',
    'this path needs a key; send the key as x-api-key or as Authorization: Bearer',
  );
}

/** The same answer for an id of another key, an unknown id, and a text that is not an id. */
export const noWatch = (kind: WatchKind | null): AppError =>
  new AppError('not_found', `this key has no ${kind === 'search' ? 'search' : 'watch'} with this id`);

/** The same answer for an unknown feed and for a wrong token, so that an id can not be guessed. */
export const noFeed = (): AppError => new AppError('not_found', 'no feed has this address and this token');

/** Returns a watch that was found. Throws `not_found` if the watch is null. */
export function foundWatch<Found>(watch: Found | null, kind: WatchKind | null): Found {
  if (watch === null) throw noWatch(kind);
  return watch;
}

/** Path of a watch's feed, with its token. */
export const feedPath = ({ id, kind }: Pick<Watch, 'id' | 'kind'>, token: string): string =>
  `/${kind === 'search' ? 'searches' : 'watches'}/${id}.atom?token=${token}`;

/** A watch in the form of answers. */
export async function watchAnswer(
  request: FastifyRequest,
  { watches, publicOrigin = null }: { readonly watches: KeyWatches; readonly publicOrigin?: string | null },
  watch: Watch,
): Promise<object> {
  const { id, kind, condition, webhookUrl, endedAt, endReason, createdAt, found, lastNumber } = watch;
  const token = await watches.feedToken(id);
  return {
    id,
    kind,
    condition,
    webhookUrl,
    active: endedAt === null,
    endReason,
    createdAt: createdAt.toISOString(),
    found,
    lastNumber,
    feedUrl: token === null ? null : `${originOf(request, publicOrigin)}${feedPath(watch, token)}`,
  };
}
