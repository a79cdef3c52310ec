// Written by python -m tests.viewer.test_messages from landscape/viewer/messages.py.

export type Request =
  | { do: 'read'; name: string }
  | { do: 'search'; query: string; method: string; k: number; years: number[] | null }
  | { do: 'select'; filter: string }
  | { do: 'summary' }
  | { do: 'compare' }
  | { do: 'ask'; question: string }
  | { do: 'save'; suffix: string }
  | { do: 'table'; name: string }
  | { do: 'rename'; region: number; label: string }
  | { do: 'reload' };

export type SearchResult = { key: unknown[]; note: string; problem: string; points: DataView };
