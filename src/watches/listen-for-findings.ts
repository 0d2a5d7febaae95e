import type pg from 'pg';
import { findingsChannel } from './store/findings.store.ts';

/**
 * Calls `onNews` whenever findings of any watch changed. `client` must be a separate connection that stays open. Changes
 * before the call, or while the connection is lost, are not reported. So call `readFindings` first, and from time to
 * time.
 */
export async function listenForFindings(client: pg.ClientBase, onNews: () => void): Promise<void> {
  client.on('notification', ({ channel }) => {
    if (channel === findingsChannel) onNews();
  });
  await client.query(`LISTEN ${findingsChannel}`);
}
