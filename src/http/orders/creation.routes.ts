import { Type } from 'typebox';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { creationPaths } from './creation-paths.ts';

/** The answer of a creation: the inputs, and what the service adds. */
const created = Type.Object(
  {
    id: Type.String({ description: 'reads the order: keep it' }),
    status: Type.Literal('ok'),
    state: Type.Literal('waiting-payment'),
    orderType: Type.Literal('direct'),
    charge: Type.Object({ amount: Type.Integer({ description: 'sats' }) }),
    createdAt: Type.Object({ '.sv': Type.Literal('timestamp') }),
    warnings: Type.Optional(Type.Array(Type.Object({ code: Type.String(), message: Type.String() }))),
  },
  { additionalProperties: true },
);

/** Creations of orders (docs/orders.md). */
export function creationRoutes(app: App, deps: AppDependencies): void {
  const addPath = creationPaths(deps);
  addPath(app, {
    url: '/inscribe',
    type: 'direct',
    operationId: 'inscribe',
    summary: 'Orders inscriptions; read the order for the address to pay',
    description: 'files or delegates, and where they go (docs/orders.md, "Direct orders")',
    errors: 'orderWrite',
    answer: created,
  });
}
