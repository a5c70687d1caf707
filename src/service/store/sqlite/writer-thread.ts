import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import {
  createWriter,
  setForWriting,
  toWriteProblem,
  type WriterMessage,
  type WriterResponse,
} from './writer.ts';

/** Thread that owns the writing connection. */
const file: string = workerData;
const database = new DatabaseSync(file);
setForWriting(database);
const writer = createWriter(database);

const toWriterResponse = (message: WriterMessage): WriterResponse => {
  try {
    const verb = writer[message.do] as (...values: readonly unknown[]) => unknown;
    return { value: verb(...message.with) };
  } catch (error) {
    return { problem: toWriteProblem(error) };
  }
};

parentPort?.on('message', (message: WriterMessage | 'close') => {
  if (message !== 'close') {
    parentPort?.postMessage(toWriterResponse(message));
    return;
  }
  database.close();
  parentPort?.close();
});
