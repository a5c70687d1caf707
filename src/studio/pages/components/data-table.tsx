import type { ComponentChildren } from 'preact';
import './components.css';

export interface Column<Row> {
  name: string;
  /** Column ID. Set it for columns with equal names. Default: the name. */
  id?: string;
  /** Kind of cells. `head` is the row header. `number` shows the column name beside the value in stacked rows. */
  kind?: 'head' | 'number';
  cell(row: Row): ComponentChildren;
}

interface DataTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  getRowKey(row: Row): string;
}

/** Table with horizontal scrolling, also by keyboard. Phones show its cells stacked. */
export const DataTable = <Row,>({ label, columns, rows, getRowKey }: DataTableProps<Row>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus a keyboard could not scroll it
  <section class="table-box" tabIndex={0} aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map(({ name, id = name, kind }) => (
            <th key={id} scope="col" class={kind === 'number' ? 'number' : undefined}>
              <bdi>{name}</bdi>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={getRowKey(row)}>
            {columns.map(({ name, id = name, kind, cell }) =>
              kind === 'head' ? (
                <th key={id} scope="row">
                  <bdi>{cell(row)}</bdi>
                </th>
              ) : kind === 'number' ? (
                <td key={id} class="number" data-label={name}>
                  {cell(row)}
                </td>
              ) : (
                <td key={id}>{cell(row)}</td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
