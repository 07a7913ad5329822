import * as z from 'zod';

// To be imported before any schema is used: the page's policy forbids code made from text, which zod would else try.
z.config({ jitless: true });
