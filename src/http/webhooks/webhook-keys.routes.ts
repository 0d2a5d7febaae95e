import { Type } from 'typebox';
import { open } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { readPublicKeys } from '#webhooks/key.store.ts';

const keysAnswer = Type.Object({
  keys: Type.Array(
    Type.Object({
      key: Type.String({
        pattern: '^whpk_[A-Za-z0-9+/]{43}=$',
        description: 'Ed25519 key in the form of Standard Webhooks: `whpk_` and 32 bytes in base64',
      }),
      current: Type.Boolean({
        description: 'false: the key before a change, which signs in addition to the current one',
      }),
      since: Type.String({ format: 'date-time' }),
    }),
    { description: 'the current key first; empty: no webhook was ever sent' },
  ),
});

/** Route of the keys with which receivers verify webhooks (docs/webhooks.md). */
export function webhookKeysRoutes(app: App, { pool }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/webhooks/keys',
    schema: {
      operationId: 'webhookKeys',
      summary: 'The public keys that sign webhooks: one, or two during a change',
      tags: ['webhooks'],
      response: { 200: keysAnswer },
    },
    config: { errors: 'own', guard: open },
    handler: async (_request, reply) => {
      const keys = await readPublicKeys(pool);
      reply.header('cache-control', 'no-cache');
      return {
        keys: keys.map(({ key, isCurrent, since }) => ({
          key,
          current: isCurrent,
          since: since.toISOString(),
        })),
      };
    },
  });
}
