import type pg from 'pg';
import { revokedAmong } from '#accounts/account.store.ts';
import { OutboxListener } from '#chain/events/outbox-listener.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isSameSecret } from '#kernel/same-secret.ts';
import type { WebhookKeys } from '#webhooks/webhook-keys.ts';
import { idOfForm } from './form-watch-id.ts';
import {
  type FindingsPage,
  findingsChannel,
  readFindings,
  readNewestFindings,
} from './store/findings.store.ts';
import { createWatch, deleteWatch, readWatch, readWatches } from './store/watches.store.ts';
import type { AskedCondition } from './watch.ts';
import { type Finding, type Watch, type WatchKind, watchSecretName } from './watch.ts';

export interface KeyWatchesParts {
  /** Connections of the role that handles requests. */
  readonly pool: pg.Pool;
  /** Throws `service_secret_missing` or `service_secret_invalid` if this process has no secret. */
  readonly secrets: () => Promise<WebhookKeys>;
  /** Returns the reason why a URL must not be used, or null if the URL is allowed. */
  readonly urlProblem: (url: string) => string | null;
}

/** A watch that a key asks for, checked. */
export interface AskedWatch {
  readonly kind: WatchKind;
  readonly condition: AskedCondition;
  readonly webhookUrl: string | null;
}

/** A new watch. The secret of its webhooks is shown only once. */
export interface CreatedWatch {
  readonly watch: Watch;
  /** In hex. Null without a webhook. */
  readonly webhookSecret: string | null;
}

/** Number of hex digits of a feed's token. 128 bits cannot be guessed. */
const tokenDigits = 32;

/** Watches of keys: what a key may create, read and delete. */
export class KeyWatches {
  readonly #parts: KeyWatchesParts;
  readonly urlProblem: KeyWatchesParts['urlProblem'];
  readonly #listener: OutboxListener;
  #secrets: WebhookKeys | null = null;

  constructor(parts: KeyWatchesParts) {
    this.#parts = parts;
    this.urlProblem = parts.urlProblem;
    this.#listener = new OutboxListener(parts.pool, findingsChannel);
  }

  /**
   * Creates a watch, which finds what comes from now on. Throws `watches_max`. Throws `watches_off` if the watch has a
   * webhook and this process has no secret of the service.
   *
   * @param form random digits of a form. The same watch with the same digits is created once, and has the same answer.
   */
  async create(keyId: number, asked: AskedWatch, form?: string): Promise<CreatedWatch> {
    const { kind, condition, webhookUrl } = asked;
    const secrets = webhookUrl === null ? null : await this.#openSecrets();
    if (webhookUrl !== null && secrets === null) {
      throw new AppError(
        'watches_off',
        'this service sends no webhooks now; leave webhookUrl out, or ask the operator',
      );
    }
    const secretKey = secrets?.publicKeys[0] ?? null;
    // only the form has the digits, so no reader of the id can send the form again to see the secret of the webhooks
    const id = form === undefined ? {} : { id: idOfForm([keyId, form, kind, condition, webhookUrl]) };
    const made = await createWatch(this.#parts.pool, {
      ...id,
      keyId,
      kind,
      condition,
      webhookUrl,
      secretKey,
    });
    if (made.kind === 'full') {
      const message = `this key already has ${made.count} active watches, the maximum; delete one of them first`;
      throw new AppError('watches_max', message, { count: made.count });
    }
    const { watch } = made;
    const secret =
      secrets === null || watch.secretKey === null
        ? null
        : secrets.lastingSecret(watchSecretName(watch.id, watch.secretKey));
    return { watch, webhookSecret: secret === null ? null : secret.toString('hex') };
  }

  /** Watches of a key, oldest first. `kind` null: of all kinds. */
  list(keyId: number, kind: WatchKind | null): Promise<Watch[]> {
    return readWatches(this.#parts.pool, keyId, kind);
  }

  /**
   * A watch of a key. Null if the key has no watch with this id, or if the watch is of another kind than `kind`.
   */
  async read(keyId: number, id: string, kind: WatchKind | null): Promise<Watch | null> {
    const watch = await readWatch(this.#parts.pool, keyId, id);
    return watch === null || (kind !== null && watch.kind !== kind) ? null : watch;
  }

  /** Deletes a watch with its findings. Returns the watch as it was before. Null: as in `read`. */
  delete(keyId: number, id: string, kind: WatchKind | null): Promise<Watch | null> {
    return deleteWatch(this.#parts.pool, keyId, id, kind);
  }

  /** Findings of a watch whose last change has a number above `after`. */
  findings(watch: Watch, after: number, limit: number): Promise<FindingsPage> {
    return readFindings(this.#parts.pool, watch.id, { after, limit });
  }

  /**
   * Like `findings`, but waits for the first finding if the page would be empty. The page is empty if none came within
   * `waitMs`, or before the signal.
   */
  async nextFindings(
    watch: Watch,
    { after, limit, waitMs }: { readonly after: number; readonly limit: number; readonly waitMs: number },
    signal: AbortSignal,
  ): Promise<FindingsPage> {
    const deadline = performance.now() + waitMs;
    const news = this.#listener.join();
    try {
      for (;;) {
        const mark = news.mark();
        const page = await this.findings(watch, after, limit);
        const leftMs = deadline - performance.now();
        if (page.findings.length > 0 || leftMs <= 0 || signal.aborted) return page;
        await news.news(mark, leftMs, signal);
      }
    } finally {
      news.done();
    }
  }

  /** Findings of a watch, the newest change first. */
  newest(watch: Watch, limit: number): Promise<Finding[]> {
    return readNewestFindings(this.#parts.pool, watch.id, limit);
  }

  /** The token in the URL of a watch's feed. Null if this process has no secret of the service. */
  async feedToken(id: string): Promise<string | null> {
    const secrets = await this.#openSecrets();
    return secrets === null ? null : tokenOf(secrets, id);
  }

  /**
   * The watch whose feed has this token. Null if the token or the id is wrong, or if the key of the watch is revoked.
   */
  async ofFeed(id: string, token: string): Promise<Watch | null> {
    const secrets = await this.#openSecrets();
    if (secrets === null || !isSameSecret(tokenOf(secrets, id), token)) return null;
    const watch = await readWatch(this.#parts.pool, null, id);
    if (watch === null) return null;
    const revoked = await revokedAmong(this.#parts.pool, [watch.keyId]);
    return revoked.length > 0 ? null : watch;
  }

  async #openSecrets(): Promise<WebhookKeys | null> {
    try {
      this.#secrets ??= await this.#parts.secrets();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
    return this.#secrets;
  }
}

const tokenOf = (secrets: WebhookKeys, id: string): string =>
  secrets.sharedSecret(`feed of watch ${id}`).toString('hex').slice(0, tokenDigits);
