// Intrusive lists: the links are members of the objects, so an object in a list needs no further memory.
#pragma once

namespace forerun {

// First in, first out. `next` is a member of T that belongs to the list while an object is in it.
template <class T, T* T::* next>
class IntrusiveList {
 public:
  struct Iterator {
    T* at;
    T* operator*() const { return at; }
    void operator++() { at = at->*next; }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  Iterator begin() const { return {first_}; }
  Iterator end() const { return {nullptr}; }

  bool empty() const { return !first_; }
  T* front() const { return first_; }
  void push_back(T* object) {
    object->*next = nullptr;
    (first_ ? last_->*next : first_) = object;
    last_ = object;
  }
  T* pop_front() {
    T* object = first_;
    first_ = object->*next;
    return object;
  }
  // Inserts in front of the first object for which `goes_behind` holds.
  template <class F>
  void insert(T* object, F goes_behind) {
    T** at = &first_;
    while (*at && !goes_behind(*at)) at = &((*at)->*next);
    object->*next = *at;
    *at = object;
    if (!(object->*next)) last_ = object;
  }
  void clear() { first_ = nullptr; }
  // Takes all objects; this list is empty then.
  IntrusiveList take() {
    IntrusiveList all = *this;
    clear();
    return all;
  }

 private:
  T *first_ = nullptr, *last_ = nullptr;  // last_ is valid only while first_ is not null
};

// First in, first out, with removal of any object in constant time. `prev` and `next` belong to the list while an
// object is in it.
template <class T, T* T::* prev, T* T::* next>
class TwoWayList {
 public:
  bool empty() const { return !first_; }
  T* front() const { return first_; }
  void push_back(T* object) {
    object->*prev = last_, object->*next = nullptr;
    (last_ ? last_->*next : first_) = object;
    last_ = object;
  }
  void remove(T* object) {
    T *before = object->*prev, *behind = object->*next;
    (before ? before->*next : first_) = behind;
    (behind ? behind->*prev : last_) = before;
  }

 private:
  T *first_ = nullptr, *last_ = nullptr;
};

}  // namespace forerun
