import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import {
  createWriter,
  setForWriting,
  toWriteProblem,
  type WriterAnswer,
  type WriterMessage,
} from './writer.ts';

/** Thread that owns the writing connection. */
const file: string = workerData;
const database = new DatabaseSync(file);
setForWriting(database);
const writer = createWriter(database);

const answerTo = (message: WriterMessage): WriterAnswer => {
  try {
    const verb = writer[message.do] as (...values: readonly unknown[]) => unknown;
    return { value: verb(...message.with) };
  } catch (error) {
    return { problem: toWriteProblem(error) };
  }
};

parentPort?.on('message', (message: WriterMessage | 'close') => {
  if (message !== 'close') {
    parentPort?.postMessage(answerTo(message));
    return;
  }
  database.close();
  parentPort?.close();
});
