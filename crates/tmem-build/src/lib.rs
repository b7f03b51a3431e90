//! The four ordered construction stages and personas: prompt, await, accept.
