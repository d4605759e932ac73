// Windows' own functions, for source files: headers must not include this.
#pragma once
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00  // Windows 10
#endif
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <winsock2.h>

#include <string>

namespace forerun {

// Converts UTF-8 text, such as paths from Python, to Windows' wide characters.
inline std::wstring wide(const char* text) {
  const int size = MultiByteToWideChar(CP_UTF8, 0, text, -1, nullptr, 0);
  if (size <= 0) return {};
  std::wstring result(static_cast<size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text, -1, result.data(), size);
  result.pop_back();  // the zero behind it
  return result;
}

// The error text of the last call that failed in this thread.
inline std::string last_error_text() {
  const DWORD error = GetLastError();
  char text[512];
  DWORD n = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error, 0, text,
                           sizeof text, nullptr);
  while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r')) --n;
  return n > 0 ? std::string(text, n) : "error " + std::to_string(error);
}

}  // namespace forerun
