// Shows labels with their values, as a list that a screen reader reads in pairs. Page thread.

export function Pairs({ rows }: { readonly rows: readonly (readonly [string, string])[] }) {
  return (
    <dl class="pairs">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
