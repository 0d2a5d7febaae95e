import fastify from 'fastify';
import { expect, test } from 'vitest';
import { atOnce, payloadAtOnce } from '#http/server/at-once.ts';

test('synchronous hooks let a request continue', async () => {
  const app = fastify();
  app.addHook(
    'onRequest',
    atOnce((request, reply) => void reply.header('asked', request.url)),
  );
  app.addHook(
    'onSend',
    payloadAtOnce((_request, _reply, payload) => `${String(payload)}!`),
  );
  app.get('/', async () => 'answer');
  const { body, headers } = await app.inject('/');
  expect(body).toBe('answer!');
  expect(headers['asked']).toBe('/');
});

test.each(['onRequest', 'onSend'])('an error thrown in %s is the answer', async (point) => {
  const app = fastify();
  const refuse = (): never => {
    throw Object.assign(new Error('refused'), { statusCode: 418 });
  };
  let isRefused = false;
  if (point === 'onRequest') app.addHook('onRequest', atOnce(refuse));
  else {
    app.addHook(
      'onSend',
      payloadAtOnce((_request, _reply, payload) => {
        // this hook also runs for the error's own response
        if (isRefused) return payload;
        isRefused = true;
        return refuse();
      }),
    );
  }
  app.get('/', async () => 'answer');
  expect((await app.inject('/')).statusCode).toBe(418);
});
