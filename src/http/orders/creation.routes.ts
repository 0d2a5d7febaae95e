import { Type } from 'typebox';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { creationPaths } from './creation-paths.ts';

const fields = {
  id: Type.String({ description: 'reads the order: keep it' }),
  status: Type.Literal('ok'),
  state: Type.Literal('waiting-payment'),
  createdAt: Type.Object({ '.sv': Type.Literal('timestamp') }),
  warnings: Type.Optional(Type.Array(Type.Object({ code: Type.String(), message: Type.String() }))),
};

const amount = Type.Integer({ description: 'sats' });
const address = Type.String({ description: 'pay here' });

/** The answer of a creation: the inputs, and what the service adds. */
const created = Type.Object(
  { ...fields, orderType: Type.Literal('direct'), charge: Type.Object({ amount }) },
  { additionalProperties: true },
);

/** The same of a managed order, with its whole charge. */
const createdManaged = Type.Object(
  {
    ...fields,
    orderType: Type.Literal('bulk'),
    charge: Type.Object(
      {
        id: Type.String({ description: 'the id of the order' }),
        status: Type.Literal('unpaid', { description: 'for ever: read the state of the order' }),
        amount,
        address,
        created_at: Type.Integer({ description: 'seconds since 1970' }),
        ttl: Type.Integer({ description: 'minutes until which the payment must be seen' }),
        fiat_value: Type.Optional(Type.Number({ description: 'the amount in US dollars' })),
        chain_invoice: Type.Object({ address }),
        uri: Type.String({ description: 'BIP 21' }),
      },
      { additionalProperties: true },
    ),
    rareSatsFee: Type.Integer({ description: 'sats a file' }),
  },
  { additionalProperties: true },
);

/** Creations of orders (docs/orders.md). */
export function creationRoutes(app: App, deps: AppDependencies): void {
  const addPath = creationPaths(deps);
  addPath(app, {
    url: '/inscribe',
    type: 'direct',
    contents: 'files',
    operationId: 'inscribe',
    summary: 'Orders inscriptions; read the order for the address to pay',
    description: 'files or delegates, and where they go (docs/orders.md, "Direct orders")',
    errors: 'orderWrite',
    answer: created,
  });
  addPath(app, {
    url: '/order',
    type: 'bulk',
    contents: 'files',
    operationId: 'createOrder',
    summary: 'Orders inscriptions that the service makes: the answer has the address to pay',
    description: 'files or delegates, and where they go (docs/orders.md, "Managed orders")',
    errors: 'orderWrite',
    answer: createdManaged,
  });
  addPath(app, {
    url: '/textorder',
    type: 'bulk',
    contents: 'texts',
    operationId: 'createTextOrder',
    summary: 'Orders inscriptions of texts: the answer has the address to pay',
    description: 'texts, and where they go (docs/orders.md, "Managed orders")',
    errors: 'textOrder',
    answer: createdManaged,
  });
}
