interface Transfer {
  bytes: number;
  drop(): void;
}

/**
 * Limits the bytes buffered for slow peers. Above the limit, the oldest transfer is dropped. Only slow peers lose transfers,
 * because those of fast peers are never the oldest.
 */
export const createByteBudget = (maxBytes: number) => {
  const transfers = new Set<Transfer>();
  let all = 0;
  return {
    /** Starts a transfer. `drop` must release the bytes and call `end`. */
    begin(drop: () => void): Transfer {
      const transfer = { bytes: 0, drop };
      transfers.add(transfer);
      return transfer;
    },
    add(transfer: Transfer, bytes: number): void {
      transfer.bytes += bytes;
      all += bytes;
      for (const oldest of transfers) {
        if (all <= maxBytes) return;
        oldest.drop();
      }
    },
    end(transfer: Transfer): void {
      if (transfers.delete(transfer)) all -= transfer.bytes;
    },
  };
};

export type ByteBudget = ReturnType<typeof createByteBudget>;
