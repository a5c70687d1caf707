/** A row of the performance table. Figures include their unit; the ratio is against the floor of the same run. */
export interface Row {
  what: string;
  figure: string;
  floor?: string;
  ratio?: string;
  spread?: string;
  target?: string;
}

export interface Bench {
  name: string;
  run(): Promise<Row[]>;
}
