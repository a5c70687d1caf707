import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import {
  callWriter,
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
    return { value: callWriter(writer, message) };
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
