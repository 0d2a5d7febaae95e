import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { allExpressions, readExpression, registeredName } from '#test/support/operations/expressions.ts';
import { OrderService } from '#test/support/orders/order-service.ts';
import { runCli } from '#test/support/run-cli.ts';

describe.skipIf(bitcoindForTests() === null)('an audit of a service', () => {
  let service: OrderService;
  beforeAll(async () => {
    service = await OrderService.start();
  });
  afterAll(() => service?.close());

  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(new URL(path, service.origin));
    return { status: answer.status, text: await answer.text() };
  };

  test('that found differences makes it not ready, before and after a restart, and is in its metrics', async () => {
    await service.eventually(async () => (await get('/health/ready')).status === 200);
    await service.kill();
    await service.database.pool.query(
      `INSERT INTO service.orders_audit (seconds, orders, differing) VALUES (0.5, 3, 1)
           ON CONFLICT (one) DO UPDATE SET orders = 3, differing = 1, ended_at = now()`,
    );
    await service.begin();
    const { status, text } = await service.eventually(async () => {
      const ready = await get('/health/ready');
      return ready.status === 503 && ready;
    });
    expect(status).toBe(503);
    expect(text).toContain('audit_differs');
    expect(text).toContain(
      '1 of 3 orders differ from the chain. Run satscribe audit to see the differences.',
    );
    expect((await get('/metrics')).text).toMatch(/^satscribe_orders_audit_differences 1$/mu);
  });

  test('is also made by the command, with the exit code 0 if nothing differs', async () => {
    const { rpcUrl, cookieFile } = service.bitcoind;
    const words = ['audit', '--json', '--node', rpcUrl, '--cookie-file', cookieFile];
    const { exitCode, stdout } = await runCli(words, service.database.settings);
    expect(JSON.parse(stdout)).toMatchObject({ differing: 0, balances: {}, differences: [] });
    expect(exitCode).toBe(0);
  });

  test('has the metrics of the alerts and the dashboard', async () => {
    const { text } = await get('/metrics');
    const registered = new Set([...text.matchAll(/^# TYPE (\w+) /gmu)].map(([, name]) => name));
    // only with Elasticsearch, and with NONSTANDARD_MINER_URL
    const optional = [
      'satscribe_search_server_up',
      'satscribe_search_lag',
      'satscribe_orders_packages_waiting_seconds',
    ];
    const used = new Set(
      allExpressions().flatMap((expression) => readExpression(expression).metrics.map(registeredName)),
    );
    expect([...used].filter((name) => !registered.has(name) && !optional.includes(name))).toEqual([]);
  });

  test('is in its metrics, with the numbers of orders in each state and of stuck ones', async () => {
    const body = {
      files: [{ name: 'a.txt', dataURL: 'data:text/plain;base64,YQ==' }],
      receiveAddress: addressOf(700),
    };
    for (let order = 0; order < 2; order++) {
      const answer = await fetch(`${service.origin}/inscribe`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(200);
    }
    await service.database.pool.query(
      `UPDATE service.orders SET stuck = 'its budget is spent', state = 'queued'
        WHERE id = (SELECT id FROM service.orders LIMIT 1)`,
    );
    await service.database.pool.query(
      `UPDATE service.orders SET state = 'prep', look_at = NULL, paid_at = now() - interval '2 hours'
        WHERE id = (SELECT id FROM service.orders WHERE state = 'waiting-payment' ORDER BY id LIMIT 1)`,
    );
    await service.database.pool.query(
      `WITH s AS (INSERT INTO service.webhook_subjects (subject, last_sequence) VALUES ('of metrics', 5))
       INSERT INTO service.webhooks (subject, sequence, id, url, host, body, created_at, state)
       SELECT 'of metrics', n, 'metrics-' || n, 'https://a.example', 'a.example', '{}', now(),
              CASE WHEN n < 3 THEN 'given-up' WHEN n = 3 THEN 'gone' ELSE 'delivered' END
         FROM generate_series(1, 5) AS n`,
    );
    const { text } = await get('/metrics');
    expect(Number(/^satscribe_orders_oldest_unsent_seconds (\S+)$/mu.exec(text)?.[1])).toBeGreaterThanOrEqual(
      7200,
    );
    expect(text).toMatch(/^satscribe_webhooks_failed\{why="given_up"\} 2$/mu);
    expect(text).toMatch(/^satscribe_webhooks_failed\{why="gone"\} 1$/mu);
    expect(text).toMatch(/^satscribe_wallet_free_sats \d+$/mu);
    expect(text).toMatch(/^satscribe_orders\{state="prep"\} 1$/mu);
    expect(text).toMatch(/^satscribe_orders\{state="queued"\} 1$/mu);
    expect(text).toMatch(/^satscribe_orders\{state="error"\} 0$/mu);
    expect(text).toMatch(/^satscribe_orders_stuck 1$/mu);
  });
});
