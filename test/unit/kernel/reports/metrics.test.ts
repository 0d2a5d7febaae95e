import { describe, expect, test } from 'vitest';
import { createMetrics } from '#kernel/reports/metrics.ts';

const failOnRead = (name: string, error: unknown): never => {
  throw new Error(name, { cause: error });
};

async function lines(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const { text } = await metrics.render();
  return text.split('\n').filter((line) => line.startsWith(name));
}

describe('metrics', () => {
  test('have a registry of their own each', async () => {
    const one = createMetrics(failOnRead);
    const other = createMetrics(failOnRead);
    one.countBlocks({ blocks: 2, bytes: 300, inscriptions: 7 });
    expect(await lines(one, 'satscribe_blocks_applied_total')).toEqual(['satscribe_blocks_applied_total 2']);
    expect(await lines(one, 'satscribe_block_bytes_total')).toEqual(['satscribe_block_bytes_total 300']);
    expect(await lines(other, 'satscribe_blocks_applied_total')).toEqual([
      'satscribe_blocks_applied_total 0',
    ]);
  });

  test('have a histogram for each step from the start, and for requests and reorganisations', async () => {
    const metrics = createMetrics(failOnRead);
    metrics.observeStep('parse', 0.03);
    metrics.observeReorganisation(2);
    metrics.observeRequest({ method: 'GET', route: '/inscription/:id', status: 200, seconds: 0.004 });
    expect(await lines(metrics, 'satscribe_step_duration_seconds_count')).toEqual([
      'satscribe_step_duration_seconds_count{step="fetch"} 0',
      'satscribe_step_duration_seconds_count{step="parse"} 1',
      'satscribe_step_duration_seconds_count{step="ledger"} 0',
      'satscribe_step_duration_seconds_count{step="write"} 0',
      'satscribe_step_duration_seconds_count{step="undo"} 0',
    ]);
    expect(await lines(metrics, 'satscribe_reorganisation_depth_blocks_sum')).toEqual([
      'satscribe_reorganisation_depth_blocks_sum 2',
    ]);
    expect(await lines(metrics, 'satscribe_http_request_duration_seconds_count')).toEqual([
      'satscribe_http_request_duration_seconds_count{method="GET",route="/inscription/:id",status="200"} 1',
    ]);
  });

  test('read gauges at each request: a missing value is left out', async () => {
    const metrics = createMetrics(failOnRead);
    let values = [{ labels: { kind: 'content' }, value: 3 }];
    metrics.read({ name: 'satscribe_search_unsealed', help: 'x', labels: ['kind'], values: () => values });
    metrics.read({ name: 'satscribe_tip_height', help: 'x', values: () => [] });
    expect(await lines(metrics, 'satscribe_search_unsealed')).toEqual([
      'satscribe_search_unsealed{kind="content"} 3',
    ]);
    values = [];
    expect(await lines(metrics, 'satscribe_search_unsealed')).toEqual([]);
    expect(await lines(metrics, 'satscribe_tip_height')).toEqual([]);
  });

  test('show each queue beside its limit', async () => {
    const metrics = createMetrics(failOnRead);
    metrics.watchQueue('blocks', () => ({ length: 3, limit: 5 }));
    metrics.watchQueue('searches', () => ({ length: 0, limit: 60 }));
    expect(await lines(metrics, 'satscribe_queue_')).toEqual([
      'satscribe_queue_length{queue="blocks"} 3',
      'satscribe_queue_length{queue="searches"} 0',
      'satscribe_queue_limit{queue="blocks"} 5',
      'satscribe_queue_limit{queue="searches"} 60',
    ]);
  });

  test('leave out a gauge that cannot be read, and render the others', async () => {
    const failed: string[] = [];
    const metrics = createMetrics((name) => failed.push(name));
    metrics.read({ name: 'satscribe_a', help: 'x', values: () => Promise.reject(new Error('gone')) });
    metrics.read({ name: 'satscribe_b', help: 'x', values: () => [{ value: 1 }] });
    expect(await lines(metrics, 'satscribe_')).toContain('satscribe_b 1');
    expect(await lines(metrics, 'satscribe_a')).toEqual([]);
    expect(failed).toContain('satscribe_a');
  });

  test('have the process and Node under the names that dashboards know', async () => {
    const { text, contentType } = await createMetrics(failOnRead).render();
    expect(contentType).toContain('text/plain');
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(text).toContain(`\n${name} `);
    }
  });
});
