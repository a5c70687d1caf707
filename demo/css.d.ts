/** Side-effect import of a style sheet, bundled by Vite. */
declare module '*.css';
